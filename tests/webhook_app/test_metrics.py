"""Whoever watches the server sees when GitHub's limits are the brake."""

from webhook_app.doors.metrics import Metrics


def test_the_brake_is_shown_by_installation() -> None:
    text = Metrics(dict, lambda: {48: (40.5, 12)}).text().decode()
    assert 'placet_brake_seconds{of="48"} 40.5' in text
    assert 'placet_brake_waiting{of="48"} 12.0' in text


def test_without_a_brake_nothing_is_shown() -> None:
    assert 'of="' not in Metrics(dict).text().decode()
