import { METRICS, type Metric } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { startMetrics } from "../src/metrics.ts";

describe("the metrics of a program", () => {
  it("are reported as they arise, or read when somebody asks", async () => {
    let connected = 1;
    const read = (): Metric[] => [
      { name: "relay_push_clients_connected", labels: { cluster: "east" }, value: connected },
      { name: "relay_server_connections_total", labels: { cluster: "east" }, value: 3 },
    ];
    const metrics = startMetrics({ source: "server", read });
    metrics.record("gloo_mesh_translation_time_sec", 0.2);
    metrics.add("translation_error", { gvk: "x/v1, Kind=Y" }, 2);
    const text = await metrics.text();
    expect(text).toContain('relay_push_clients_connected{cluster="east"} 1');
    expect(text).toContain("# TYPE relay_server_connections_total counter");
    expect(text).toContain('gloo_mesh_translation_time_sec_bucket{le="0.25"} 1');
    expect(text).toContain('translation_error{gvk="x/v1, Kind=Y"} 2');
    connected = 0;
    expect(await metrics.text()).toContain('relay_push_clients_connected{cluster="east"} 0');
    // Read twice, a counter is still what it is.
    expect(await metrics.text()).toContain('relay_server_connections_total{cluster="east"} 3');
  });

  it("forget a cluster that is gone", async () => {
    let readings: Metric[] = [{ name: "relay_server_lag_seconds", labels: { cluster: "east" }, value: 7 }];
    const metrics = startMetrics({ source: "server", read: () => readings });
    expect(await metrics.text()).toContain('relay_server_lag_seconds{cluster="east"} 7');
    readings = [];
    expect(await metrics.text()).not.toContain("east");
  });

  it("are all that the catalogue names for the program, and no other's", async () => {
    const text = await startMetrics({ source: "agent", read: () => [] }).text();
    for (const [name, { on }] of Object.entries(METRICS)) {
      expect(text.includes(`# HELP ${name} `), name).toBe((on as readonly string[]).includes("agent"));
    }
  });
});
