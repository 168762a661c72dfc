"""LCS: the longest common subsequence of two values, in each of its forms."""

_FORMS = ("", "LEN", "IDX", "IDX LEN", "LEN IDX", "IDX MINMATCHLEN 4", "IDX MINMATCHLEN 0",
          "IDX MINMATCHLEN -1", "IDX WITHMATCHLEN", "IDX MINMATCHLEN 4 WITHMATCHLEN",
          "WITHMATCHLEN", "MINMATCHLEN 4", "LEN WITHMATCHLEN", "idx minmatchlen 2 withmatchlen",
          "IDX IDX", "IDX MINMATCHLEN", "IDX MINMATCHLEN abc", 'IDX MINMATCHLEN ""', "FOO", '""',
          "IDX FOO", "IDX MINMATCHLEN 99999999999999999999")

_PAIRS = (("ohmytext", "mynewtext"), ("abc", "abc"), ("abc", "xyz"), ('""', "abc"), ('""', '""'),
          ("aXbXcX", "abc"), ("abcdefgh", "hgfedcba"), ("aaaa", "aa"),
          (r'"\x00\xff\r\n"', r'"\xff\r"'),
          ("AGGTABQRSTUVWXYZ" * 4, "GXTXAYBQRSTUVWXYZ" * 4))

SEQUENCES = {
    "lcs": "\n\n".join(["LCS\nLCS a\nLCS nothing nothing\nSET a abc\nLCS a nothing\n"
                        "LCS nothing a IDX\nLCS a nothing LEN\nLCS a a\nLCS a a LEN"]
                       + [f"MSET a {a} b {b}\n" + "\n".join(f"LCS a b {form}" for form in _FORMS)
                          for a, b in _PAIRS]),
}
