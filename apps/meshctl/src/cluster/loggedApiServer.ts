import type { ApiServer } from "@isthmus/kubernetes";
import { type RequestLog, timedRequests } from "./timedRequests.ts";

/** An API server of which each request is reported when it has ended. Of a log and a connection, nothing of what they carry is said. */
export function loggedApiServer(api: ApiServer, log: RequestLog): ApiServer {
  const timed = timedRequests(log);
  // Each member by name: a request that is added must not pass unseen.
  return {
    address: api.address,
    version: (signal) => timed("get version", api.version(signal)),
    clockAheadMs: (signal) => timed("get version, for its date", api.clockAheadMs(signal)),
    isAllowed: (permission, signal) => {
      const { verb, group, resource, namespace } = permission;
      const what = `${verb} ${resource}${group === "" ? "" : `.${group}`}${namespace === undefined ? "" : ` in ${namespace}`}`;
      return timed(`ask whether this user may ${what}`, api.isAllowed(permission, signal), (may) => (may ? "yes" : "no"));
    },
    async *podLog(options, signal) {
      const { namespace, pod, container } = options;
      let end = (): void => undefined;
      let fail = (_: unknown): void => undefined;
      const ended = new Promise<void>((resolve, reject) => {
        [end, fail] = [resolve, reject];
      });
      const what = `log of pod ${namespace}/${pod}${container === undefined ? "" : `, container ${container}`}`;
      const reported = timed(what, ended);
      // The reader gets the error from the log itself.
      reported.catch(() => undefined);
      try {
        yield* api.podLog(options, signal);
      } catch (error) {
        fail(error);
        throw error;
      } finally {
        end();
        await reported.catch(() => undefined);
      }
    },
    connectToPod: (to, signal) => timed(`connect to port ${to.port} of pod ${to.namespace}/${to.pod}`, api.connectToPod(to, signal)),
  };
}
