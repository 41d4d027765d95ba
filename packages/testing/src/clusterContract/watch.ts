import { type AnyResource, type Kind, refOf } from "@isthmus/core";
import type { Cluster, ListOptions, WatchEvent } from "@isthmus/ports";
import { describe, expect, it } from "vitest";
import { PickyConfigMap } from "./reads.ts";
import { ContractConfigMap, type Current, changed, configMap, rejectionOf, type Subject, Unicorn } from "./subject.ts";

/** Tests of `watch`: order, selectors, bookmarks, expired versions, malformed objects, and aborting. */
export function watchContract(current: Current): void {
  describe("a watch", () => {
    it("gives every change after its version, in order", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const before = await cluster.create(configMap(subject, {}));
      const { resourceVersion } = await cluster.list(ContractConfigMap, { namespace });
      const first = await cluster.create(configMap(subject, { key: "one" }));
      const watch = watching(cluster, ContractConfigMap, { resourceVersion, namespace });
      const second = await cluster.update(changed(first, { data: { key: "two" } }));
      await cluster.delete(refOf(first));
      await cluster.delete(refOf(before));
      const events = await watch.take(4);
      expect(events.map(summary)).toEqual([
        `put ${first.metadata.name} one`,
        `put ${first.metadata.name} two`,
        `removed ${first.metadata.name}`,
        `removed ${before.metadata.name}`,
      ]);
      expect(events[0]?.resourceVersion).toBe(first.metadata.resourceVersion);
      expect(events[1]?.resourceVersion).toBe(second.metadata.resourceVersion);
      const resource = events[0]?.type === "put" ? events[0].resource : undefined;
      expect(resource?.metadata.clusterName ?? "").toBe(cluster.name);
      expect(resource?.metadata.managedFields).toBeUndefined();
      await watch.stop();
    });

    it("continues where another ended", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const { resourceVersion } = await cluster.list(ContractConfigMap, { namespace });
      const [first, second] = [await cluster.create(configMap(subject, { n: "1" })), await cluster.create(configMap(subject, { n: "2" }))];
      const watch = watching(cluster, ContractConfigMap, { resourceVersion, namespace });
      const [seen] = await watch.take(1);
      await watch.stop();
      expect(seen && summary(seen)).toBe(`put ${first.metadata.name} 1`);
      const resumed = watching(cluster, ContractConfigMap, { resourceVersion: seen?.resourceVersion ?? "", namespace });
      expect((await resumed.take(1)).map(summary)).toEqual([`put ${second.metadata.name} 2`]);
      await resumed.stop();
    });

    it("of some labels sees objects come and go with their labels", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const label = { watched: subject.name() };
      const created = await cluster.create(configMap(subject, { n: "1" }));
      const { resourceVersion } = await cluster.list(ContractConfigMap, { namespace });
      const watch = watching(cluster, ContractConfigMap, { resourceVersion, namespace, labels: { matchLabels: label } });
      const labelled = await cluster.update({ ...created, metadata: { ...created.metadata, labels: label } });
      const { labels: _, ...plain } = labelled.metadata;
      const unlabelled = await cluster.update({ ...labelled, metadata: plain });
      await cluster.update(changed(unlabelled, { data: { n: "2" } }));
      await cluster.create(configMap(subject, { n: "3" }, { name: `${created.metadata.name}-last`, labels: label }));
      const events = await watch.take(3);
      expect(events.map(summary)).toEqual([
        `put ${created.metadata.name} 1`,
        `removed ${created.metadata.name}`,
        `put ${created.metadata.name}-last 3`,
      ]);
      expect(events[1]?.resourceVersion).toBe(unlabelled.metadata.resourceVersion);
      await watch.stop();
    });

    it("of one name sees no other", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const name = subject.name();
      const { resourceVersion } = await cluster.list(ContractConfigMap, { namespace, name });
      const watch = watching(cluster, ContractConfigMap, { resourceVersion, namespace, name });
      await cluster.create(configMap(subject, { n: "1" }, { name: `${name}-2` }));
      const created = await cluster.create(configMap(subject, { n: "2" }, { name }));
      await cluster.delete(refOf(created));
      expect((await watch.take(2)).map(summary)).toEqual([`put ${name} 2`, `removed ${name}`]);
      await watch.stop();
    });

    it("of one namespace sees no other", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const { resourceVersion } = await cluster.list(ContractConfigMap, {});
      const watch = watching(cluster, ContractConfigMap, { resourceVersion, namespace });
      await cluster.create(configMap({ ...subject, namespace: "default" }, {}, { name: `${namespace}-${subject.name()}` }));
      const own = await cluster.create(configMap(subject, { n: "own" }));
      expect((await watch.take(1)).map(summary)).toEqual([`put ${own.metadata.name} own`]);
      await watch.stop();
    });

    it("says what is wrong with an object that its kind does not understand", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const { resourceVersion } = await cluster.list(PickyConfigMap, { namespace });
      const watch = watching(cluster, PickyConfigMap, { resourceVersion, namespace });
      const bad = await cluster.create(configMap(subject, { port: "eighty" }));
      await cluster.update(changed(bad, { data: { port: "80" } }));
      const [first, second] = await watch.take(2);
      expect(first).toMatchObject({ type: "malformed", malformed: { ref: { name: bad.metadata.name, namespace } } });
      expect(first?.type === "malformed" && first.malformed.message).toContain("data.port");
      expect(second).toMatchObject({ type: "put" });
      await watch.stop();
    });

    // API servers send them once a minute, and only when something of the kind has changed somewhere.
    it("gives bookmarks where nothing happens, from which watching continues", async () => {
      const subject = current();
      const { cluster, namespace } = subject;
      const { resourceVersion } = await cluster.list(ContractConfigMap, { namespace: "kube-public" });
      const abort = new AbortController();
      let from: string | undefined;
      const bookmark = firstBookmark(cluster.watch(ContractConfigMap, resourceVersion, { namespace: "kube-public" }, abort.signal)).then(
        (found) => {
          from = found;
        },
      );
      // Again and again: what was created before the server took up the watch brings no bookmark.
      while (from === undefined) {
        await cluster.create(configMap(subject, { n: "elsewhere" }));
        await Promise.race([bookmark, new Promise((resolve) => setTimeout(resolve, 2_000))]);
      }
      expect(Number(from)).toBeGreaterThan(Number(resourceVersion));
      const created = await cluster.create(configMap(subject, { n: "later" }));
      const watch = watching(cluster, ContractConfigMap, { resourceVersion: from, namespace });
      // A bookmark may be older than the last that was created to bring it about.
      let event = await watch.take(1);
      while (event.map(summary)[0]?.endsWith(" elsewhere") === true) {
        expect(Number(event[0]?.resourceVersion)).toBeGreaterThan(Number(from));
        event = await watch.take(1);
      }
      expect(event.map(summary)).toEqual([`put ${created.metadata.name} later`]);
      await watch.stop();
    }, 180_000);

    it("cannot begin at a version that is forgotten", async () => {
      const { cluster, namespace } = current();
      await rejectionOf(watching(cluster, ContractConfigMap, { resourceVersion: "1", namespace }).take(1), "Expired");
    });

    it("of a kind that is not served is refused", async () => {
      const { cluster, namespace } = current();
      await rejectionOf(watching(cluster, Unicorn, { resourceVersion: "1", namespace }).take(1), "Unserved");
    });

    it("rejects with the reason for which it is aborted", async () => {
      const { cluster, namespace } = current();
      const { resourceVersion } = await cluster.list(ContractConfigMap, { namespace });
      const abort = new AbortController();
      const next = cluster.watch(ContractConfigMap, resourceVersion, { namespace }, abort.signal)[Symbol.asyncIterator]().next();
      const reason = new Error("no longer wanted");
      abort.abort(reason);
      await expect(next).rejects.toBe(reason);
    });
  });
}

async function firstBookmark(events: AsyncIterable<WatchEvent<AnyResource>>): Promise<string> {
  for await (const event of events) if (event.type === "bookmark") return event.resourceVersion;
  throw new Error("the watch ended without a bookmark");
}

interface Watching {
  /** The next events that are no bookmarks. */
  take(count: number): Promise<WatchEvent<AnyResource>[]>;
  stop(): Promise<void>;
}

function watching(
  cluster: Subject["cluster"],
  kind: Kind<AnyResource>,
  { resourceVersion, ...options }: ListOptions & { readonly resourceVersion: string },
): Watching {
  const abort = new AbortController();
  const events = eventsOf(cluster, { kind, resourceVersion, options }, abort.signal);
  return {
    async take(count) {
      const taken: WatchEvent<AnyResource>[] = [];
      while (taken.length < count) {
        const next = await events.next();
        if (next.done === true) throw new Error(`the watch ended after ${taken.length} of ${count} events`);
        if (next.value.type !== "bookmark") taken.push(next.value);
      }
      return taken;
    },
    async stop() {
      await events.return();
      abort.abort();
    },
  };
}

interface From {
  readonly kind: Kind<AnyResource>;
  readonly resourceVersion: string;
  readonly options: ListOptions;
}

/** A server may end a watch at any time: it is taken up where it ended. */
async function* eventsOf(
  cluster: Cluster,
  { kind, resourceVersion, options }: From,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<AnyResource>, void, undefined> {
  let version = resourceVersion;
  while (true) {
    for await (const event of cluster.watch(kind, version, options, signal)) {
      version = event.resourceVersion;
      yield event;
    }
  }
}

/** An event in a word: what happened to which object, and the value it holds. */
function summary(event: WatchEvent<AnyResource>): string {
  if (event.type === "bookmark") return "bookmark";
  if (event.type === "malformed") return `malformed ${event.malformed.ref.name}`;
  if (event.type === "removed") return `removed ${event.resource.metadata.name}`;
  const [value] = Object.values((event.resource["data"] ?? {}) as Readonly<Record<string, string>>);
  return `put ${event.resource.metadata.name} ${value ?? ""}`.trim();
}
