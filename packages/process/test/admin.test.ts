import { describe, expect, it } from "vitest";
import { startAdmin } from "../src/admin.ts";

const reading = { name: "relay_push_clients_connected", labels: { cluster: "east" }, value: 1 };

async function served<T>(isReady: () => boolean, ask: (url: string) => Promise<T>): Promise<T> {
  const admin = await startAdmin({ host: "127.0.0.1", port: 0, isReady, metrics: () => [reading] });
  try {
    return await ask(`http://127.0.0.1:${admin.port}`);
  } finally {
    await admin.close();
  }
}

describe("the admin port", () => {
  it("tells health, and readiness once there is something to serve", async () => {
    let ready = false;
    await served(
      () => ready,
      async (url) => {
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
        expect((await fetch(`${url}/readyz`)).status).toBe(503);
        ready = true;
        expect((await fetch(`${url}/readyz`)).status).toBe(200);
        expect((await fetch(`${url}/anything`)).status).toBe(404);
      },
    );
  });

  it("serves metrics in Prometheus' text format", async () => {
    const text = await served(
      () => true,
      async (url) => (await fetch(`${url}/metrics`)).text(),
    );
    expect(text).toContain('relay_push_clients_connected{cluster="east"} 1');
  });

  it("says which port is taken and what to do", async () => {
    const admin = await startAdmin({ host: "127.0.0.1", port: 0, isReady: () => true, metrics: () => [] });
    const again = startAdmin({ host: "127.0.0.1", port: admin.port, isReady: () => true, metrics: () => [] });
    await expect(again).rejects.toThrow(`port ${admin.port} on 127.0.0.1 is taken: choose another with --admin-port`);
    await admin.close();
  });
});
