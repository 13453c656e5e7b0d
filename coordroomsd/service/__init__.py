"""`coordroomsd install-service`: the daemon as a service of systemd, and back."""
