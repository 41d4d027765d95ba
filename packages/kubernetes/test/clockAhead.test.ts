import { afterEach, expect, it } from "vitest";
import { apiServerOf } from "../src/index.ts";
import { type ScriptedApiServer, scriptedApiServer } from "./scriptedApiServer.ts";

let server: ScriptedApiServer | undefined;
afterEach(() => server?.close());

const NOW = Date.parse("2026-11-20T12:00:00Z");

async function aheadBy(date: string | undefined, status = 200): Promise<number | undefined> {
  server = await scriptedApiServer((_, response) => {
    response.sendDate = false;
    response.writeHead(status, date === undefined ? {} : { date }).end(JSON.stringify({ gitVersion: "v1.31.2" }));
    return true;
  });
  const clock = { now: () => NOW, sleep: async () => undefined };
  return apiServerOf({ kubeconfig: server.kubeconfig, clock, silenceMs: 10_000 }).clockAheadMs();
}

it.each<[string | undefined, number | undefined]>([
  ["Fri, 20 Nov 2026 12:01:34 GMT", 94_500],
  ["Fri, 20 Nov 2026 11:59:00 GMT", -59_500],
  ["yesterday", undefined],
  [undefined, undefined],
])("of an answer with the date %s, an API server is %s ms ahead", async (date, ms) => {
  expect(await aheadBy(date)).toBe(ms);
});

it("is not known of an API server that refuses to answer", async () => {
  await expect(aheadBy("Fri, 20 Nov 2026 12:01:34 GMT", 503)).rejects.toMatchObject({ name: "ClusterError" });
});
