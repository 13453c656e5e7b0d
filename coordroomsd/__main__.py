import sys

from coordroomsd.cli import main

sys.exit(main())
