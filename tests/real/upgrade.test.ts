import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubernetesCluster, Settings, TrafficPolicy, VirtualMesh, VirtualService } from "@isthmus/api";
import type { AnyResource, Kind, TimedCondition } from "@isthmus/core";
import { isNight } from "@isthmus/testing/atNight";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startAgent, startManagementServer } from "./harness/apps.ts";
import { secretDigests } from "./harness/backup.ts";
import { anyKind } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { earlierRelease, type Programs } from "./harness/earlierRelease.ts";
import { applyAll } from "./harness/manifests.ts";
import { shiftPolicy, virtualMesh } from "./harness/policies.ts";
import { type RealRedis, startRedis } from "./harness/redis.ts";
import { changesBetween, type Slice, startSlice, written } from "./harness/slice.ts";
import { type Switchboard, startSwitchboard } from "./harness/switchboard.ts";
import { waitFor } from "./harness/waitFor.ts";

/** The version before: the last commit of main before agents knew of surplus on hold. */
const EARLIER = "e95f5393b26258508284668418cc50eccaf9ede6";
const names = ["cluster-1", "cluster-2"] as const;
const policy = { name: "shift", namespace: "gloo-mesh" };
const reviews = { name: "reviews", namespace: "bookinfo" };
const QUIET_MS = 5_000;

type Part = "server" | "agents";
const ORDERS: readonly { readonly title: string; readonly order: readonly Part[]; readonly hasRedis: boolean }[] = [
  { title: "server first, without Redis", order: ["server", "agents"], hasRedis: false },
  { title: "agents first, with Redis", order: ["agents", "server"], hasRedis: true },
];

const earlier = earlierRelease(EARLIER);
if ("missing" in earlier) {
  const isCi = process.env["CI"] === "true";
  const because = `needs the version before: ${earlier.missing}`;
  describe(isCi ? "an upgrade" : `an upgrade (skipped: ${earlier.missing})`, () => {
    it.skipIf(!isCi)(because, () => expect.fail(earlier.missing));
  });
} else for (const order of isNight ? ORDERS : ORDERS.slice(-1)) upgrade(order, earlier);

// As the page on upgrades says: without a mode, this version deletes the rules that the one before wrote unasked.
const settings: AnyResource = {
  apiVersion: Settings.apiVersion,
  kind: Settings.kind,
  metadata: { name: "settings", namespace: "gloo-mesh" },
  spec: { mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } },
};

/** A write to a ServiceEntry for the host of another cluster. */
const FEDERATED_ENTRY = /^(?:patch|update) (?:\S*\/)?serviceentries istio-system\/\S+\.svc\.cluster-\d\.global$/;

/** The same, but for what only another version of a ServiceEntry tells: it is the same object. */
function withoutVersionsOfEntries<S extends { readonly written: readonly Readonly<Record<string, string>>[] }>(found: S): S {
  const written = found.written.map((objects) =>
    Object.fromEntries(
      Object.entries(objects).map(([key, version]) => [key, key.startsWith("ServiceEntry ") ? version.replace(/\/.*/, "") : version]),
    ),
  );
  return { ...found, written };
}

/** One story: to this version and back, and a policy that is changed between the steps. */
function upgrade({ title, order, hasRedis }: (typeof ORDERS)[number], old: Programs): void {
  describeReal(`an upgrade and a downgrade, ${title}`, (components) => {
    let slice: Slice;
    let switchboard: Switchboard;
    let redis: RealRedis | undefined;
    let server: App;
    let agents: readonly App[];
    const started: App[] = [];
    let more: readonly string[] = [];

    beforeAll(async () => {
      if (hasRedis) {
        redis = await startRedis(components.redis, mkdtempSync(join(tmpdir(), "isthmus-real-redis-")));
        more = [`--redis-address=127.0.0.1:${redis.settings.port}`];
      }
      const relay = async ([first = ""]: readonly string[]) => {
        switchboard = await startSwitchboard(first);
        return switchboard.address;
      };
      slice = await startSlice(components, { relay, replicas: [more], programs: old });
      server = slice.server.app;
      agents = slice.agents;
      await applyAll(slice.management, [settings, virtualMesh(), shiftPolicy(75)]);
      await settled(75);
    });
    afterAll(async () => {
      await Promise.all(started.map(({ program }) => program.stop()));
      await slice?.stop();
      await switchboard?.stop();
      await redis?.stop();
    });

    /** All that we wrote in the workload clusters, and all Secrets of ours. */
    async function state() {
      const { management, first, second } = slice;
      const secrets = await Promise.all([management, first, second].map(secretDigests));
      return { secrets, written: await Promise.all([written(first), written(second)]) };
    }

    function writesIn(name: "management" | (typeof names)[number]): readonly string[] {
      return slice.fleet.servers[name]
        .planeWrites()
        .map(({ what }) => what)
        .filter((what) => !what.includes(" leases ") && !what.includes("accessreviews "));
    }

    /** What our programs have written in workload clusters so far, but for leases and questions of access. */
    const count = () => names.map((name) => writesIn(name).length);

    function inForce({ apiVersion, kind, plural }: Kind, name: string): Promise<true> {
      return waitFor(`${kind} ${name} to be in force`, async () => {
        const found = await slice.management.get(anyKind(apiVersion, kind, plural), { name, namespace: "gloo-mesh" });
        const status = (found?.["status"] ?? {}) as { readonly state?: string; readonly conditions?: readonly TimedCondition[] };
        const applied = status.conditions?.find(({ type }) => type === "Applied");
        expect([status.state, applied?.status, applied?.observedGeneration]).toEqual(["ACCEPTED", "True", found?.metadata.generation]);
        return true;
      });
    }

    /** Every cluster is connected, every policy in force, and no status is written any more. */
    async function settled(share: number): Promise<void> {
      for (const name of names) {
        await waitFor(`${name} to be connected`, async () => {
          const found = await slice.management.get(KubernetesCluster, { name, namespace: "gloo-mesh" });
          return found?.status?.state === "CONNECTED" ? found : undefined;
        });
      }
      await waitFor("the share", async () => {
        const route = await slice.first.get(VirtualService, reviews);
        return route?.spec?.http?.[0]?.route?.[0]?.weight === share;
      });
      await inForce(VirtualMesh, "all");
      await inForce(TrafficPolicy, policy.name);
      await waitFor("nothing to be written any more", async () => {
        const before = writesIn("management").length;
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
        return writesIn("management").length === before;
      });
    }

    async function replaceServer(bin: string | undefined): Promise<void> {
      await server.program.stop();
      const { management } = slice.fleet.servers;
      const { directory } = slice.fleet;
      const next = await startManagementServer({ server: management, directory, more, ...(bin === undefined ? {} : { bin }) });
      server = next.app;
      started.push(server);
      switchboard.to(next.relayAddress);
      await server.ready();
    }

    async function replaceAgents(bin: string | undefined): Promise<void> {
      await Promise.all(agents.map(({ program }) => program.stop()));
      const relayAddress = switchboard.address;
      const { servers, directory } = slice.fleet;
      const which = bin === undefined ? {} : { bin, isEarlier: true };
      agents = await Promise.all(
        names.map((cluster) => startAgent({ server: servers[cluster], cluster, relayAddress, directory, ...which })),
      );
      started.push(...agents);
    }

    function replace(part: Part, to: Programs | undefined): Promise<void> {
      return part === "server" ? replaceServer(to?.server) : replaceAgents(to?.agent);
    }

    let share = 75;
    const steps = [...order.map((part) => ({ part, to: undefined })), ...order.map((part) => ({ part, to: old }))];
    for (const { part, to } of steps) {
      const version = to === undefined ? "this version" : "the version before";
      it(`replaces the ${part} by ${version}: nothing is written, no Secret changes`, async () => {
        const [before, so] = [await state(), count()];
        await replace(part, to);
        await settled(share);
        // As the page on upgrades says: a server of this version names the identities that callers accept, and one of the version before takes them back.
        const isNaming = part === "server";
        expect(isNaming ? withoutVersionsOfEntries(await state()) : await state()).toEqual(
          isNaming ? withoutVersionsOfEntries(before) : before,
        );
        const others = names.map((name, i) =>
          writesIn(name)
            .slice(so[i])
            .filter((what) => !(isNaming && FEDERATED_ENTRY.test(what))),
        );
        expect(others).toEqual([[], []]);
      });

      // In the first cluster, and for the second one's calls of its service.
      it("carries out a policy that is changed then, and writes nothing else", async () => {
        const before = await state();
        share -= 10;
        await applyAll(slice.management, [shiftPolicy(share)]);
        await settled(share);
        const after = await state();
        expect(after.secrets).toEqual(before.secrets);
        const changes = [0, 1].map((i) => changesBetween(before.written[i] ?? {}, after.written[i] ?? {}));
        expect(changes).toEqual([["VirtualService reviews.bookinfo"], ["VirtualService reviews-bookinfo-cluster-1.istio-system"]]);
      });
    }
  });
}
