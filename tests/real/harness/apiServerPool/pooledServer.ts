import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "@isthmus/core";
import { type ApiServerAccess, startApiServer } from "../apiServer.ts";
import { clusterOf } from "../clusters.ts";
import type { Components } from "../components.ts";
import { installCrds } from "../manifests.ts";
import { meshCrds, ourCrds } from "../meshCluster.ts";
import { waitFor } from "../waitFor.ts";
import { adminRequests } from "./adminRequests.ts";
import { type Baseline, baselineKeeper, isOwn } from "./baseline.ts";
import { outOfForce } from "./enforcement.ts";
import { etcdKeys, type StoredValue } from "./etcdKeys.ts";
import { type Served, servedObjects } from "./servedObjects.ts";

/** What a server has at the start of a lease: nothing but what Kubernetes makes, or Istio's CRDs too, or those and the CRDs of our kinds. */
export type Form = "bare" | "istio" | "all";

/** An API server that serves one tenant after the other. */
export interface PooledServer {
  readonly access: ApiServerAccess;
  readonly form: Form;
  /**
   * Brings it to a form, whatever is there, and proves by all lists of the API server that nothing else is served. Throws when that is not the case
   * after `resetMs`: it must serve nobody any more then.
   */
  reset(form: Form): Promise<void>;
  /** Suspends it while nobody uses it: one that waits takes a tenth of a processor, the more the more CRDs it has. */
  suspend(): void;
  /** Resolves when it answers again. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export interface PooledServerOptions {
  readonly components: Components;
  /** Of its folder in `directory`, and of its keys in etcd. */
  readonly name: string;
  readonly directory: string;
  readonly etcdUrl: string;
  /** The CRDs of forms that one of the servers of an etcd has had, as it stores them: another one does not have to validate them again. */
  readonly definitions: Map<Form, Definitions>;
  /** After so many milliseconds something must be wrong. Default: 20,000, a hundred times what a reset takes. */
  readonly resetMs?: number;
}

/** CRDs as they are stored, and the resources that are listed with them. */
export interface Definitions {
  readonly crds: readonly StoredValue[];
  readonly resources: readonly string[];
}

/** What a server in a form stores, and the resources that it lists. */
interface FormState {
  readonly baseline: Baseline;
  readonly resources: readonly string[];
}

/** Starts one, bare. */
export async function startPooledServer(options: PooledServerOptions): Promise<PooledServer> {
  const { components, name, etcdUrl, definitions, resetMs = RESET_MS } = options;
  const server = await startApiServer(options);
  const requests = adminRequests(server.access);
  const keys = etcdKeys(etcdUrl, `/${name}/`);
  const keeper = baselineKeeper(keys);
  const forms = new Map<Form, FormState>();
  let form: Form = "bare";

  /** What is served, where it is exactly what is stored. */
  async function servedAsStored(): Promise<Served | undefined> {
    const stored = [...(await keys.revisions())].filter(([key]) => !isOwn(key) && !NEVER_SERVED.test(key));
    const served = await servedObjects(requests);
    const expected = stored.map(([key, revision]) => `${key.slice(key.lastIndexOf("/") + 1)}@${revision}`).sort();
    const objects = served.objects.filter((object) => !OWN_LEASE.test(object));
    return isDeepStrictEqual(objects, expected) ? served : undefined;
  }

  /** Waits until nothing changes any more, and remembers it as a form. */
  async function remember(as: Form): Promise<FormState> {
    for (const end = Date.now() + STARTED_MS; ; ) {
      const baseline = await keeper.capture();
      await sleep(QUIET_MS);
      const served = await servedAsStored().catch(() => undefined);
      const { put, remove } = await keeper.changesTo(baseline);
      if (served !== undefined && put.length === 0 && remove.length === 0) {
        const state = { baseline, resources: served.resources };
        forms.set(as, state);
        return state;
      }
      if (Date.now() > end) throw new Error(`${name} does not come to rest`);
    }
  }

  async function comeTo({ baseline, resources }: FormState): Promise<void> {
    const changed = new Set<string>();
    let last = "nothing yet";
    for (const end = Date.now() + resetMs; ; ) {
      const changes = await keeper.changesTo(baseline);
      const found = [...changes.remove, ...changes.put.map(({ key }) => key)];
      if (found.length > 0) {
        await keeper.write(changes);
        for (const key of found) changed.add(key);
        last = `to be reset: ${found.slice(0, 5).join(", ")}`;
      } else {
        last = "other objects are served than are stored";
        const served = await servedAsStored().catch((error) => {
          last = messageOf(error);
        });
        if (isDeepStrictEqual(served?.resources, resources)) {
          if (!(await outOfForce(requests, [...changed]))) return;
          // Markers came and went as objects do: the next round shows that they are gone.
          changed.clear();
          continue;
        }
        if (served !== undefined) last = "other resources are served";
      }
      if (Date.now() > end) throw new Error(`${name} is not as it was after ${resetMs / 1000} s; last: ${last}`);
      await sleep(RETRY_MS);
    }
  }

  async function stop(): Promise<void> {
    requests.close();
    // One that is suspended does not end.
    server.program.send("SIGCONT");
    await server.program.stop();
  }

  async function define(as: Exclude<Form, "bare">): Promise<void> {
    const known = definitions.get(as);
    if (known === undefined) {
      await installCrds(clusterOf(server, name), as === "istio" ? meshCrds(components) : [...meshCrds(components), ...ourCrds()]);
    } else {
      await keeper.write({ put: known.crds, remove: [] });
      await waitFor("CRDs to be served", async () => isDeepStrictEqual((await servedObjects(requests)).resources, known.resources));
    }
    const { baseline, resources } = await remember(as);
    const crds = [...baseline].filter(([key]) => key.startsWith(CRDS)).map(([key, value]) => ({ key, value }));
    definitions.set(as, { crds, resources });
  }

  try {
    await remember("bare");
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    access: server.access,
    get form() {
      return form;
    },
    async reset(to) {
      const [state, bare] = [forms.get(to), forms.get("bare")];
      if (bare === undefined) throw new TypeError(`${name} has not started`);
      await comeTo(state ?? bare);
      if (state === undefined && to !== "bare") await define(to);
      form = to;
    },
    suspend: () => server.program.send("SIGSTOP"),
    async resume() {
      server.program.send("SIGCONT");
      // Connections of before may be closed by now, also those to etcd.
      await waitFor(`${name} to answer again`, () => servedAsStored().catch(() => undefined));
    },
    stop,
  };
}

/** Counters and bitmaps of the API server, which no list shows; a reset writes them back. */
const NEVER_SERVED = /^ranges\//;
const CRDS = "apiextensions.k8s.io/customresourcedefinitions/";
const OWN_LEASE = /^apiserver-[^@]*@/;
const RESET_MS = 20_000;
const STARTED_MS = 60_000;
/** Long enough for a controller of the API server to react to a change; what comes later is met by each reset. */
const QUIET_MS = 300;
const RETRY_MS = 20;
