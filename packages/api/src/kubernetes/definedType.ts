import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { projectedMetadata } from "./project.ts";
import { foreignFields } from "./schema.ts";

/**
 * A CustomResourceDefinition, as far as it says what an API server serves: its schemas, which can be megabytes, are not kept.
 * Source: kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions.
 */
export const CustomResourceDefinition = defineKind(
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    namespaced: false,
    fields: {
      spec: foreignFields({
        group: Type.String(),
        names: foreignFields({ kind: Type.String(), plural: Type.String() }),
        versions: Type.Array(foreignFields({ name: Type.String(), served: Type.Boolean() })),
      }),
      status: foreignFields({ conditions: Type.Array(foreignFields({ type: Type.String(), status: Type.String() })) }),
    },
  },
  ({ apiVersion, kind, metadata, spec, status }) => {
    const { group, names, versions = [] } = spec ?? {};
    const conditions = (status?.conditions ?? []).map(({ type, status: value }) => ({
      ...(type && { type }),
      ...(value && { status: value }),
    }));
    return {
      apiVersion,
      kind,
      metadata: projectedMetadata(metadata, () => false),
      spec: {
        ...(group === undefined ? {} : { group }),
        ...(names === undefined ? {} : { names }),
        versions: versions.map(({ name, served }) => ({
          ...(name === undefined ? {} : { name }),
          ...(served === undefined ? {} : { served }),
        })),
      },
      status: { conditions },
    };
  },
);
export type CustomResourceDefinition = ReturnType<typeof CustomResourceDefinition.parse>;
