import { Type } from "@sinclair/typebox";
import { defineKind } from "../shared/defineKind.ts";
import { port, userFields } from "../shared/schema.ts";

/** A host name that stands for services of several clusters. Read for traffic shifts that go there; its own translation is not part of this. */
export const VirtualDestination = defineKind({
  apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
  kind: "VirtualDestination",
  plural: "virtualdestinations",
  fields: { spec: userFields({ hostname: Type.String(), port: userFields({ number: port() }) }) },
});

export type VirtualDestination = ReturnType<typeof VirtualDestination.parse>;

export type VirtualDestinationSpec = NonNullable<VirtualDestination["spec"]>;
