import type { Resource } from "@isthmus/core";
import type { Value } from "../shared/defineKind.ts";
import { projectedMetadata, projectedPodSpec } from "./project.ts";
import type { controllerSpec } from "./schema.ts";

/** A Deployment, DaemonSet or StatefulSet: what makes the pods of a workload. */
export interface Controller extends Resource {
  readonly spec?: Value<typeof controllerSpec>;
}

/** A controller as it leaves its cluster: no status, which changes with every pod; no commands, environments or volumes. */
export function projectedController<C extends Controller>(controller: C): Controller {
  const { apiVersion, kind, spec } = controller;
  const { resourceVersion: _, ...metadata } = projectedMetadata(controller.metadata);
  if (spec === undefined) return { apiVersion, kind, metadata };
  const { selector, replicas, template } = spec;
  return {
    apiVersion,
    kind,
    metadata,
    spec: {
      ...(selector === undefined ? {} : { selector }),
      ...(replicas === undefined ? {} : { replicas }),
      ...(template === undefined
        ? {}
        : {
            template: {
              ...(template.metadata?.labels === undefined ? {} : { metadata: { labels: template.metadata.labels } }),
              ...(template.spec === undefined ? {} : { spec: projectedPodSpec(template.spec) }),
            },
          }),
    },
  };
}
