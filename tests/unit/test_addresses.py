import pytest

from coordroomsd.addresses import Listen, check_database_url, parse_listen, without_password


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:secret@db:5433/rooms", "postgresql://ann:***@db:5433/rooms"),
        ("postgresql://ann:se@cret@db/rooms", "postgresql://ann:***@db/rooms"),
        ("postgresql://ann:se/#?cret@db/rooms", "postgresql://ann:***@db/rooms"),
        ("postgresql://ann@db/rooms?host=/run/pg", "postgresql://ann@db/rooms?host=/run/pg"),
        (
            "postgresql:///rooms?user=a&password=secret&x=1",
            "postgresql:///rooms?user=a&password=***&x=1",
        ),
        ("postgresql://db:5432,other:5432/rooms", "postgresql://db:5432,other:5432/rooms"),
    ],
)
def test_a_database_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown


@pytest.mark.parametrize(
    "url", ["postgresql://db/rooms", "postgres://u:p@[::1]:1/r", "postgresql:///r?host=/run/pg"]
)
def test_a_database_url_may_be(url: str) -> None:
    assert check_database_url(url) == url


@pytest.mark.parametrize("url", ["", "db", "postgresql:db", "https://db/rooms", "host=db user=ann"])
def test_a_database_url_may_not_be(url: str) -> None:
    with pytest.raises(ValueError, match="should be like postgresql://"):
        check_database_url(url)


@pytest.mark.parametrize(
    ("text", "listen"),
    [
        ("127.0.0.1:8040", Listen("127.0.0.1", 8040)),
        ("[::1]:8040", Listen("::1", 8040)),
        ("localhost:1", Listen("localhost", 1)),
        ("0.0.0.0:65535", Listen("0.0.0.0", 65535)),
    ],
)
def test_listen_is_a_host_and_a_port(text: str, listen: Listen) -> None:
    assert parse_listen(text) == listen
    assert str(listen) == text


@pytest.mark.parametrize(
    "text",
    ["", "8040", ":8040", "::1:8040", "[::1]", "[127.0.0.1]:80", "a b:80", "http://a:80", "a@b:80",
     "a:0", "a:65536", "a:-1", "a:٣", "a:", "[]:80", "[::1:80"],
)  # fmt: skip
def test_listen_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="should "):
        parse_listen(text)
