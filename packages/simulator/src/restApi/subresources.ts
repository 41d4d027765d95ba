import type { AnyResource } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { isMembers, type Members, membersAt } from "../apply/json.ts";
import { evictUnlessForbidden } from "../evictions.ts";
import type { SimulatedState } from "../state.ts";
import type { Stored } from "../store.ts";
import { ApiError, badRequest, conflictError, notFoundError } from "./apiError.ts";
import { rendered } from "./rendering.ts";
import type { ResourceRequest } from "./requestInfo.ts";
import type { ApiResource } from "./resourceTable.ts";
import { selectorText } from "./tables/cells.ts";
import { valueAtPath } from "./tables/jsonPaths.ts";

/** The Scale of an object. */
export function scaleOf(resource: ApiResource, stored: Stored): Members {
  const object = rendered(resource, stored);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object["metadata"] as Members;
  const paths = resource.custom?.scale;
  const at = (field: string, otherwise: string): unknown => valueAtPath(object, String(paths?.[field] ?? otherwise))[0];
  const replicas = at("specReplicasPath", ".spec.replicas");
  const current = at("statusReplicasPath", ".status.replicas");
  const selector = paths === undefined ? builtInSelector(object) : at("labelSelectorPath", "");
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : {},
    status: {
      replicas: typeof current === "number" ? current : 0,
      ...(typeof selector === "string" && selector !== "" ? { selector } : {}),
    },
  };
}

function builtInSelector(object: Members): string {
  const selector = membersAt(object, "spec")["selector"];
  if (isMembers(selector) && !isMembers(selector["matchLabels"]) && !Array.isArray(selector["matchExpressions"]))
    return selectorText({ matchLabels: selector });
  return selectorText(selector);
}

/** The object with the replicas that a Scale asks for. Throws ApiError. */
export function scaledObject(resource: ApiResource, stored: Stored, scale: Members): Members {
  const replicas = membersAt(scale, "spec")["replicas"] ?? 0;
  const wanted = membersAt(scale, "metadata")["resourceVersion"];
  const { name, resourceVersion } = stored.resource.metadata;
  if (wanted !== undefined && wanted !== "" && wanted !== resourceVersion) throw conflictError(resource, name);
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    throw badRequest(
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  if (replicas < 0) {
    const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
    throw new ApiError(422, "Invalid", `Scale.autoscaling "${name}" is invalid: spec.replicas: ${message}`, {
      name,
      group: "autoscaling",
      kind: "Scale",
      causes: [{ reason: "FieldValueInvalid", message, field: "spec.replicas" }],
    });
  }
  const path = String(resource.custom?.scale?.["specReplicasPath"] ?? ".spec.replicas")
    .split(".")
    .filter((part) => part !== "");
  return withPath(rendered(resource, stored), path, replicas);
}

function withPath(object: Members, [name = "", ...rest]: readonly string[], value: unknown): Members {
  if (rest.length === 0) return { ...object, [name]: value };
  return { ...object, [name]: withPath(membersAt(object, name), rest, value) };
}

/** Evicts a pod. Throws ApiError: `NotFound`, or `TooManyRequests` when a budget forbids it. */
export function evicted(state: SimulatedState, { namespace, name }: ResourceRequest, body: Members): void {
  const found: AnyResource | undefined = state.find({ apiVersion: "v1", kind: "Pod", namespace, name });
  if (found === undefined) throw notFoundError({ group: "", plural: "pods" }, name);
  const preconditions = membersAt(membersAt(body, "deleteOptions"), "preconditions");
  const isDry = Array.isArray(membersAt(body, "deleteOptions")["dryRun"]);
  try {
    if (!isDry) {
      const ref = { apiVersion: "v1", kind: "Pod", namespace, name, clusterName: state.name };
      evictUnlessForbidden(state, ref, typeof preconditions["uid"] === "string" ? { uid: preconditions["uid"] } : {});
    }
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    if (error.code === "Blocked") {
      throw new ApiError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
        causes: [{ reason: "DisruptionBudget", message: error.message }],
      });
    }
    if (error.code === "NotFound") throw notFoundError({ group: "", plural: "pods" }, name);
    throw conflictError({ group: "", plural: "pods" }, name);
  }
}
