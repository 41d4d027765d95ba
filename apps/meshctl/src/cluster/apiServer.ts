import type { ApiServer } from "@isthmus/kubernetes";
import { REQUEST_TIMEOUT_MS, silenceOf } from "./managementCluster.ts";

/** Gives access to what an API server answers beside objects. */
export type ConnectApiServer = (place: {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly requestTimeout?: number;
}) => Promise<ApiServer>;

/** That of a kubeconfig, as its current user. Throws UsageError when there is none. */
export const apiServerOfKubeconfig: ConnectApiServer = async ({ kubeconfig: path, context, requestTimeout = REQUEST_TIMEOUT_MS }) => {
  const { apiServerOf, loadKubeconfig } = await import("@isthmus/kubernetes");
  const { systemClock } = await import("@isthmus/plane/clock");
  const kubeconfig = loadKubeconfig({ ...(path === undefined ? {} : { path }), ...(context === undefined ? {} : { context }) });
  return apiServerOf({ kubeconfig, clock: systemClock, silenceMs: silenceOf(requestTimeout) });
};
