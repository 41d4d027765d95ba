import { connect, type Socket } from "node:net";
import { systemClock } from "@isthmus/plane";
import { afterEach, expect, it } from "vitest";
import { startWorkloadHttp, type WorkloadHttpOptions } from "../src/workloadHttp.ts";

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function served(more: Partial<WorkloadHttpOptions> = {}): Promise<number> {
  const stopped = new AbortController();
  const port = startWorkloadHttp(
    {
      host: "127.0.0.1",
      port: 0,
      clusterName: "east",
      lacking: () => undefined,
      offered: () => [{ port: 9977, service: "envoy.service.accesslog.v3.AccessLogService" }],
      clock: systemClock,
      log: silent,
      ...more,
    },
    stopped.signal,
  );
  stops.push(async () => {
    stopped.abort(new Error("the test is over"));
    await port.ended;
  });
  return port.listening;
}

it("says that it lives, whether proxies are served, and by what", async () => {
  let lacking: string | undefined = "port 9977 is not open";
  const port = await served({ lacking: () => lacking });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return [response.status, await response.text()];
  };
  expect(await get("/healthz")).toEqual([200, "ok\n"]);
  expect(await get("/readyz")).toEqual([503, "not ready: port 9977 is not open\n"]);
  lacking = undefined;
  expect(await get("/readyz?verbose")).toEqual([200, "ready\n"]);
  const [status, text] = await get("/services");
  expect(status).toBe(200);
  expect(JSON.parse(String(text))).toEqual({
    cluster: "east",
    services: [{ port: 9977, service: "envoy.service.accesslog.v3.AccessLogService" }],
  });
});

it("answers nothing else, however it is asked", async () => {
  const port = await served();
  const status = async (path: string, method = "GET") => (await fetch(`http://127.0.0.1:${port}${path}`, { method })).status;
  for (const path of ["/", "/metrics", "/snapshots", "/access-logs", "/services/", "//healthz"]) expect(await status(path)).toBe(404);
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) expect(await status("/healthz", method)).toBe(405);
});

it("has so many connections of one address", async () => {
  const port = await served();
  const sockets = Array.from({ length: 40 }, () => connect({ host: "127.0.0.1", port }));
  stops.push(() => sockets.forEach((socket) => void socket.destroy()));
  const closed = await Promise.all(sockets.map(isClosed));
  expect(closed.filter((one) => one)).toHaveLength(8);
});

/** Whether the other end closes a connection within a moment. */
function isClosed(socket: Socket): Promise<boolean> {
  socket.resume();
  socket.on("error", () => undefined);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), 500);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
