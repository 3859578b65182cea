"""What is counted, for Prometheus; one registry per application, so that two never mix."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

Brakes = Callable[[], Mapping[int, tuple[float, int]]]
Upstreams = Callable[[], Mapping[str, str]]


class Metrics:
    """The counters of the doors, and what lies in the store at the moment of asking."""

    def __init__(
        self,
        counts: Callable[[], Mapping[str, int]],
        brakes: Brakes = dict,
        upstreams: Upstreams = dict,
    ) -> None:
        self.registry = CollectorRegistry()
        self.deliveries = Counter(
            "placet_deliveries", "Webhook deliveries by answer", ["answer"], registry=self.registry
        )
        self.asked = Counter(
            "placet_asked", "Calls of agents by status or code", ["answer"], registry=self.registry
        )
        self.calls = Counter(
            "placet_calls", "Calls at the gate by what became of them", ["status"],
            registry=self.registry,
        )  # fmt: skip
        self.registry.register(_Stored(counts))
        self.registry.register(_Braked(brakes))
        self.registry.register(_Reached(upstreams))

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self.registry)


class _Stored(Collector):
    """Counts read from the store when they are asked for."""

    def __init__(self, counts: Callable[[], Mapping[str, int]]) -> None:
        self._counts = counts

    def describe(self) -> Iterator[Metric]:
        """Say nothing in advance: registering must not read the store."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """One gauge, by what is counted: a state, or a backlog."""
        gauge = GaugeMetricFamily("placet_stored", "Proposals and backlogs", labels=["what"])
        for what, count in sorted(self._counts().items()):
            gauge.add_metric([what], count)
        yield gauge


class _Braked(Collector):
    """Where the pace of writes is the brake right now."""

    def __init__(self, brakes: Brakes) -> None:
        self._brakes = brakes

    def describe(self) -> Iterator[Metric]:
        """Say nothing in advance."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Seconds until the next write, and how many wait, by installation."""
        seconds = GaugeMetricFamily(
            "placet_brake_seconds", "Seconds until GitHub's limits let us write", labels=["of"]
        )
        waiting = GaugeMetricFamily(
            "placet_brake_waiting", "Writes that wait for GitHub's limits", labels=["of"]
        )
        for installation, (left, count) in sorted(self._brakes().items()):
            seconds.add_metric([str(installation)], left)
            waiting.add_metric([str(installation)], count)
        yield from (seconds, waiting)


class _Reached(Collector):
    """Which upstreams answer right now."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._upstreams = upstreams

    def describe(self) -> Iterator[Metric]:
        """Say nothing in advance."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """1 for an upstream that is up, 0 for one that is down."""
        up = GaugeMetricFamily("placet_upstream_up", "Upstreams that answer", labels=["upstream"])
        for name, why in sorted(self._upstreams().items()):
            up.add_metric([name], 0.0 if why else 1.0)
        yield up
