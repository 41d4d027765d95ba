import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startProgram } from "../harness/childProcess.ts";
import { describeReal } from "../harness/describeReal.ts";
import { freePorts } from "../harness/freePorts.ts";
import { renderedObjects } from "../harness/helm.ts";
import { waitFor } from "../harness/waitFor.ts";
import { podsIn } from "./rendered.ts";

const PASSWORD = "a-password-of-redis";

describeReal("the Redis of the chart", (components) => {
  it.each([false, true])(
    "a real Redis takes its arguments (with a password: %s), keeps what is written and evicts nothing",
    async (enabled) => {
      const directory = mkdtempSync(join(tmpdir(), "isthmus-chart-redis-"));
      const [port = 0] = await freePorts(1);
      const values = { redis: { auth: { enabled }, deployment: { port } } };
      const objects = await renderedObjects({ components, chart: "gloo-mesh-mgmt-server", values });
      const pod = podsIn(objects).find(({ name }) => name === "gloo-mesh-redis");
      // As the kubelet: variables in parentheses are replaced; the volume is a directory of this machine.
      const [, ...args] = (pod?.spec.containers[0]?.args ?? []).map((arg) =>
        arg.replace("$(REDIS_PASSWORD)", PASSWORD).replace(/^\/data$/, directory),
      );
      const start = () => startProgram({ name: "redis", command: components.redis, args, log: join(directory, "log") });
      const cli = (...words: string[]) =>
        execFileSync("redis-cli", ["-h", "127.0.0.1", "-p", String(port), ...words], {
          encoding: "utf8",
          env: { ...process.env, ...(enabled ? { REDISCLI_AUTH: PASSWORD } : {}) },
          stdio: ["ignore", "pipe", "pipe"],
        }).trim();
      let redis = start();
      try {
        await waitFor(`Redis to answer (${redis.output()})`, () => cli("ping") === "PONG");
        // Half of the limit of 1Gi.
        expect(cli("config", "get", "maxmemory").split("\n")[1]).toBe(String(512 * 1024 ** 2));
        expect(cli("config", "get", "maxmemory-policy").split("\n")[1]).toBe("noeviction");
        expect(cli("set", "key", "value")).toBe("OK");
        if (enabled) expect(execFileSync("redis-cli", ["-p", String(port), "get", "key"], { encoding: "utf8" })).toContain("NOAUTH");
        await redis.stop();
        redis = start();
        await waitFor("Redis to answer again", () => cli("ping") === "PONG");
        expect(cli("get", "key")).toBe("value");
      } finally {
        await redis.stop();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
});
