import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { KubernetesCluster, TrafficPolicy, VirtualDestination, VirtualMesh, VirtualService } from "@isthmus/api";
import type { Kind, TimedCondition } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { isNight } from "@isthmus/testing/atNight";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnApiServer, startApiServer } from "./harness/apiServer.ts";
import { type ManagementServer, startManagementServer } from "./harness/apps.ts";
import { type Backup, backUp, restore, secretDigests } from "./harness/backup.ts";
import { anyKind, clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Etcd, startEtcd } from "./harness/etcd.ts";
import { kubectl } from "./harness/kubectl.ts";
import { applyAll } from "./harness/manifests.ts";
import { shiftPolicy, timeoutPolicy, virtualDestination, virtualMesh } from "./harness/policies.ts";
import { type Slice, startSlice, written } from "./harness/slice.ts";
import { type Switchboard, startSwitchboard } from "./harness/switchboard.ts";
import { waitFor } from "./harness/waitFor.ts";

const ratings = { name: "ratings", namespace: "bookinfo" };
// For calls within the cluster, and of the other cluster's service.
const MADE_BY_POLICY = ["cluster-2", "cluster-1"].map((other) => [
  "VirtualService ratings.bookinfo",
  `VirtualService ratings-bookinfo-${other}.istio-system`,
]);
const names = ["cluster-1", "cluster-2"] as const;
// Longer than an agent waits with objects that it does not know, and than several heartbeats take.
const QUIET_MS = 50_000;

// Each is one story, as docs/operations/backup.md tells it: each test continues where the one before it ended.
for (const late of isNight ? ([undefined, "cluster-2"] as const) : ["cluster-2" as const]) {
  describeReal(
    `a lost management cluster, restored while ${late === undefined ? "both agents call" : `the agent of ${late} is away`}`,
    (components) => {
      // Fresh: its management cluster is lost.
      let slice: Slice<OwnApiServer>;
      let switchboard: Switchboard;
      let backup: Backup;
      let etcd: Etcd | undefined;
      let apiServer: OwnApiServer | undefined;
      let server: ManagementServer | undefined;
      let management: Cluster;
      let before: Awaited<ReturnType<typeof state>>;
      let writesBefore: readonly number[];

      beforeAll(async () => {
        const relay = async ([first = ""]: readonly string[]) => {
          switchboard = await startSwitchboard(first);
          return switchboard.address;
        };
        slice = await startSlice(components, { relay, fresh: true });
        management = slice.management;
      });
      afterAll(async () => {
        await server?.app.program.stop();
        await slice?.stop();
        await switchboard?.stop();
        await apiServer?.program.stop();
        await etcd?.program.stop();
      });

      /** Everything that we wrote in workload clusters, and their Secrets. */
      async function state() {
        const { first, second } = slice;
        return Promise.all([written(first), written(second), secretDigests(first), secretDigests(second)]);
      }

      /** What our programs have written in workload clusters, but for leases. */
      function writes(): readonly (readonly string[])[] {
        return names.map((name) =>
          slice.fleet.servers[name]
            .planeWrites()
            .map(({ what }) => what)
            .filter((what) => !what.includes(" leases ")),
        );
      }

      function inForce({ apiVersion, kind, plural }: Kind, name: string): Promise<true> {
        return waitFor(`${kind} ${name} to be in force`, async () => {
          const found = await management.get(anyKind(apiVersion, kind, plural), { name, namespace: "gloo-mesh" });
          const status = (found?.["status"] ?? {}) as { readonly state?: string; readonly conditions?: readonly TimedCondition[] };
          const applied = status.conditions?.find(({ type }) => type === "Applied");
          expect([status.state, applied?.status, applied?.observedGeneration]).toEqual(["ACCEPTED", "True", found?.metadata.generation]);
          return true;
        });
      }

      async function deletesPaused(name: string): Promise<TimedCondition | undefined> {
        const { status } = (await management.get(KubernetesCluster, { name, namespace: "gloo-mesh" })) ?? {};
        return (status?.conditions as readonly TimedCondition[] | undefined)?.find(({ type }) => type === "DeletesPaused");
      }

      async function timeouts(): Promise<readonly (string | undefined)[]> {
        const routes = await Promise.all([slice.first, slice.second].map((cluster) => cluster.get(VirtualService, ratings)));
        return routes.map((route) => route?.spec?.http?.[0]?.timeout);
      }

      it("has a backup, and then one more policy", async () => {
        await applyAll(management, [virtualMesh(), shiftPolicy(75), virtualDestination()]);
        await inForce(VirtualMesh, "all");
        await inForce(TrafficPolicy, "shift");
        await inForce(VirtualDestination, "reviews");
        const { directory, servers } = slice.fleet;
        backup = await backUp({ components, server: servers.management, directory: join(directory, "backup") });
        const names = backup.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
        expect(names).toEqual(expect.arrayContaining(["VirtualDestination reviews", "Secret relay-tls-signing-secret"]));
        expect(names).not.toContain("Secret relay-store-key-secret");
        expect(backup.objects.filter((object) => "status" in object || object.metadata.resourceVersion !== undefined)).toEqual([]);
        await applyAll(management, [timeoutPolicy("ratings")]);
        await inForce(TrafficPolicy, "timeout-ratings");
        before = await state();
      });

      it("is lost with its etcd, and made again from the backup", async () => {
        await slice.server.app.program.kill();
        await slice.fleet.servers.management.program.kill();
        if (late !== undefined) await slice.agents[names.indexOf(late)]?.program.stop();
        writesBefore = writes().map(({ length }) => length);
        const directory = join(slice.fleet.directory, "restored");
        mkdirSync(directory);
        etcd = await startEtcd(components, directory);
        apiServer = await startApiServer({ components, name: "management", directory, etcdUrl: etcd.url });
        management = clusterOf(apiServer, "");
        await restore({ components, server: apiServer, directory: join(directory, "restore") }, backup);
        server = await startManagementServer({ server: apiServer, directory });
        switchboard.to(server.relayAddress);
        await server.app.ready();
      });

      it("says what it keeps, and why", async () => {
        for (const name of names) {
          if (name === late) continue;
          await waitFor(`deletes on hold in ${name}`, async () => {
            const condition = await deletesPaused(name);
            expect([condition?.status, condition?.reason]).toEqual(["True", "SourcesUnknown"]);
            const isLateNamed = condition?.message?.includes("not reported since this server started: cluster-2");
            expect(isLateNamed, condition?.message).toBe(late !== undefined);
            return true;
          });
        }
      });

      it("writes nothing in the clusters meanwhile", async () => {
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
        expect(await state()).toEqual(before);
        expect(writes().map((all, i) => all.slice(writesBefore[i]))).toEqual([[], []]);
      });

      it("hears the agent that comes late, and writes nothing then", async () => {
        if (late !== undefined) {
          await slice.agents[names.indexOf(late)]?.restart();
          await waitFor("its deletes on hold", async () => (await deletesPaused(late))?.reason === "SourcesUnknown");
        }
        await inForce(VirtualMesh, "all");
        await inForce(TrafficPolicy, "shift");
        await inForce(VirtualDestination, "reviews");
        // What comes from the one policy that the backup lacks, and nothing else.
        for (const name of names) expect((await deletesPaused(name))?.message).toMatch(/^2 objects /);
        expect(await state()).toEqual(before);
      });

      if (late === undefined) {
        it("keeps what the newer policy made when the policy is created again", async () => {
          await applyAll(management, [timeoutPolicy("ratings")]);
          await inForce(TrafficPolicy, "timeout-ratings");
          for (const name of names) await waitFor("nothing on hold", async () => (await deletesPaused(name))?.status === "False");
          expect(await state()).toEqual(before);
        });
      } else {
        it("deletes what the newer policy made when somebody approves it, cluster by cluster", async () => {
          if (apiServer === undefined) throw new Error("there is no API server");
          for (const [i, name] of names.entries()) {
            const approval = [
              "annotate",
              "--overwrite",
              "kubernetescluster",
              name,
              "--namespace=gloo-mesh",
              "isthmus.mesh/resume-deletes=now",
            ];
            expect((await kubectl({ components, server: apiServer }, approval)).code).toBe(0);
            await waitFor("the route to go", async () => (await timeouts())[i] === undefined);
            await waitFor("nothing on hold", async () => (await deletesPaused(name))?.status === "False");
          }
          const after = await state();
          for (const i of [0, 1]) {
            const gone = Object.keys(before[i] ?? {}).filter((key) => after[i]?.[key] !== before[i]?.[key]);
            expect(gone).toEqual(MADE_BY_POLICY[i]);
          }
        });
      }
    },
  );
}
