import { type AnyResource, type Clock, kindKeyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import { type Cluster, ClusterError, type ClusterErrorCode, type Preconditions } from "@isthmus/ports";
import type { SimulatedCluster, Verb } from "@isthmus/simulator";

/** One change that one of our processes has made in a cluster. */
export interface Write {
  readonly at: number;
  /** When the process made its call. */
  readonly begun: number;
  /** The process, such as `agent a/1`. */
  readonly actor: string;
  readonly cluster: string;
  readonly verb: Verb;
  readonly ref: ResourceRef;
  readonly before: AnyResource | undefined;
  readonly after: AnyResource | undefined;
}

/** How a call goes wrong. */
export interface CallFault {
  readonly code: ClusterErrorCode;
  /** The change is made, and only the answer is lost. */
  readonly afterWrite: boolean;
  /** How long it takes until that is clear. Default: no time. */
  readonly afterMs?: number;
  /** What the API server asks to wait before the next try. */
  readonly retryAfterMs?: number;
}

/** A call of one of our processes. */
export interface PortCall {
  readonly verb: Verb;
  /** `kindKeyOf`; "" where it is about none. */
  readonly kindKey: string;
  /** What is written; undefined for all but writes of objects. */
  readonly resource?: Resource;
  /** Whether it would make an object. */
  readonly isNew?: boolean;
}

export interface ActorPortOptions {
  readonly actor: string;
  readonly clock: Clock;
  /** How long a call is under way to the API server, in milliseconds, and an event from it. Asked for each one. */
  readonly lagMs: () => number;
  /** What goes wrong with the call that is being made. */
  readonly faultOf: (call: PortCall) => CallFault | undefined;
  readonly wrote: (write: Write) => void;
  /** An object has just been read by name, and nothing has been done about it yet. */
  readonly wasRead: (ref: ResourceRef) => void;
  /** A kind (`kindKeyOf`) could not be listed, or its watch has ended with an error: the process may not know what is there. */
  readonly failedToRead: (kindKey: string) => void;
}

/** A cluster as one of our processes reaches it: every change that the process makes is reported, with what stood there at that moment. */
export function actorPort(
  cluster: SimulatedCluster,
  { actor, clock, lagMs, faultOf, wrote, wasRead, failedToRead }: ActorPortOptions,
): Cluster {
  async function lag(signal: AbortSignal | undefined): Promise<void> {
    const ms = lagMs();
    if (ms > 0) await clock.sleep(ms, signal);
  }

  async function write<T>(
    verb: Verb,
    ref: ResourceRef,
    { act, signal, resource }: { act: () => Promise<T>; signal: AbortSignal | undefined; resource?: Resource },
  ): Promise<T> {
    const begun = clock.now();
    await lag(signal);
    const isNew = cluster.object(ref) === undefined && verb !== "delete";
    const fault = faultOf({ verb, kindKey: kindKeyOf(ref), isNew, ...(resource === undefined ? {} : { resource }) });
    if (fault?.afterMs !== undefined) await clock.sleep(fault.afterMs, signal);
    if (fault?.afterWrite === false) throw failed(verb, fault);
    const before = cluster.object(ref);
    // The cluster makes the change before it gives its promise.
    const answer = act();
    const after = cluster.object(ref);
    if (before !== after)
      wrote({ at: clock.now(), begun, actor, cluster: cluster.name, verb, ref: { ...ref, clusterName: cluster.name }, before, after });
    if (fault === undefined) return answer;
    // Whatever came of it, the caller hears only of the fault.
    await answer.catch(() => undefined);
    throw failed(verb, fault);
  }

  async function read<T>(call: PortCall, act: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    await lag(signal);
    const fault = faultOf(call);
    if (fault !== undefined) throw failed(call.verb, fault);
    return act();
  }

  return {
    name: cluster.name,
    servedKinds: (signal) => read({ verb: "servedKinds", kindKey: "" }, () => cluster.servedKinds(signal), signal),
    get: (kind, ref, signal) =>
      read(
        { verb: "get", kindKey: kindKeyOf(kind) },
        () => {
          const found = cluster.get(kind, ref, signal);
          wasRead({ apiVersion: kind.apiVersion, kind: kind.kind, name: ref.name, namespace: ref.namespace, clusterName: cluster.name });
          return found;
        },
        signal,
      ),
    async list(kind, options, signal) {
      try {
        return await read({ verb: "list", kindKey: kindKeyOf(kind) }, () => cluster.list(kind, options, signal), signal);
      } catch (error) {
        failedToRead(kindKeyOf(kind));
        throw error;
      }
    },
    async *watch(kind, resourceVersion, options, signal) {
      try {
        await read({ verb: "watch", kindKey: kindKeyOf(kind) }, async () => undefined, signal);
        for await (const event of cluster.watch(kind, resourceVersion, options, signal)) {
          await lag(signal);
          yield event;
        }
      } catch (error) {
        failedToRead(kindKeyOf(kind));
        throw error;
      }
    },
    apply: (resource, options, signal) =>
      write("apply", refOf(resource), { act: () => cluster.apply(resource, options, signal), signal, resource }),
    applyStatus: (resource, options, signal) =>
      write("applyStatus", refOf(resource), { act: () => cluster.applyStatus(resource, options, signal), signal, resource }),
    create: (resource, signal) => write("create", refOf(resource), { act: () => cluster.create(resource, signal), signal, resource }),
    update: (resource, signal) => write("update", refOf(resource), { act: () => cluster.update(resource, signal), signal, resource }),
    updateStatus: (resource, signal) =>
      write("updateStatus", refOf(resource), { act: () => cluster.updateStatus(resource, signal), signal, resource }),
    delete: (ref, preconditions: Preconditions | undefined, signal) =>
      write("delete", ref, { act: () => cluster.delete(ref, preconditions, signal), signal }),
    evict: (pod, preconditions, signal) => write("evict", pod, { act: () => cluster.evict(pod, preconditions, signal), signal }),
  };
}

function failed(verb: Verb, { code, retryAfterMs }: CallFault): ClusterError {
  return new ClusterError(code, `simulated ${code} of ${verb}`, retryAfterMs === undefined ? {} : { retryAfterMs });
}
