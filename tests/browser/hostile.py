"""What a peer may write to mislead a person, a browser or a terminal, and how it is to be shown."""

from __future__ import annotations

from typing import Final

# Each body, and the text of its row: markup as letters, what shows nothing by its code point.
BODIES: Final = {
    "<script>window.ran = 1</script>": "<script>window.ran = 1</script>",
    "<img src=x onerror='window.ran = 1'>": "<img src=x onerror='window.ran = 1'>",
    "<svg/onload=window.ran=1><style>*{display:none}</style>": (
        "<svg/onload=window.ran=1><style>*{display:none}</style>"
    ),
    "&lt;b&gt; &amp; &#x202e; </article></main>": "&lt;b&gt; &amp; &#x202e; </article></main>",
    "```html\n<iframe src='javascript:window.ran=1'></iframe>\n```": (
        "<iframe src='javascript:window.ran=1'></iframe>"
    ),
    "`<a onclick=window.ran=1>` ${window.ran=1} {{7*7}}": (
        "<a onclick=window.ran=1> ${window.ran=1} {{7*7}}"
    ),
    "[a](javascript:window.ran=1) javascript:window.ran=1 data:text/html,x": (
        "[a](javascript:window.ran=1) javascript:window.ran=1 data:text/html,x"
    ),
    'https://x.example/"onmouseover="window.ran=1 https://good.example@evil.example/': (
        'https://x.example/"onmouseover="window.ran=1 https://good.example@evil.example/'
    ),
    "invoice\u202egnp.exe": "invoiceU+202Egnp.exe",
    "\u2066admin\u2069 \u2067left\u2069": "U+2066adminU+2069 U+2067leftU+2069",
    "pass\u200bword \ufeffjoin\u2060ed \u00adsoft": "passU+200Bword U+FEFFjoinU+2060ed U+00ADsoft",
    "\U000e0069\U000e0067\U000e006eore": "U+E0069U+E0067U+E006Eore",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 a\x08b": (
        "U+001B[31mredU+001B[0m U+001B]0;titleU+0007 aU+0008b"
    ),
    "one\u2028two\u2029three\rfour": "oneU+2028twoU+2029threeU+000Dfour",
    "Z" + "\u0335" * 40 + "algo": "Z" + "\u0335" * 6 + "U+0335 ×34algo",
    "https://evil.example/\u202emoc.elgoog": "https://evil.example/U+202Emoc.elgoog",
    "https://xn--80ak6aa92e.example/ https://аррӏе.example/": (
        "https://xn--80ak6aa92e.example/ https://аррӏе.example/ (xn--80ak6aa92e.example)"
    ),
    "⟦mark⟧ #1 #0 #99999999999999999999": "⟦mark⟧ #1 #0 #99999999999999999999",
    "שלום (עולם) مرحبا 123": "שלום (עולם) مرحبا 123",
    "👩‍👩‍👧 ❤️ 한국어 नमस्ते": "👩‍👩‍👧 ❤️ 한국어 नमस्ते",
}

# As many letters without a space as a body may have, and the most lines.
ONE_LINE: Final = "x" * 64 * 1024
MANY_LINES: Final = "y\n" * 32_000

# Names, keys and statuses are one visible line of 120 characters, an id 200 as it is sent; the
# daemon refuses the rest.
LINES: Final = (
    "<img src=x onerror='window.ran = 1'>",
    "</span><script>window.ran = 1</script>",
    "W" * 120,
    "&lt;i&gt; ' \" ` \\ ${window.ran=1}",
    "שם (עולם): 1",
    "﷽" * 20,
    "a/b/../../c?key=%00#f",
    "Z" + "\u0335" * 25,
)

# What a page made of text never has, unless a peer's words became markup.
MADE_OF_WORDS: Final = "main :is(img, script, svg, iframe, style, object, embed, b, i, base, link)"
