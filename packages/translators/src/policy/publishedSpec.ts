import { AccessPolicy, publishedForm, TrafficPolicy, type TrafficPolicySpec, VirtualMesh } from "@isthmus/api";
import { memoizeRow } from "../incremental/memoizeRow.ts";

const FORMS = {
  TrafficPolicy: memoizeRow((spec: object) => publishedForm(TrafficPolicy.definition.fields.spec, spec)),
  AccessPolicy: memoizeRow((spec: object) => publishedForm(AccessPolicy.definition.fields.spec, spec)),
  VirtualMesh: memoizeRow((spec: object) => publishedForm(VirtualMesh.definition.fields.spec, spec)),
};

/** A user's spec as statuses of other objects repeat it: one copy for all of them. */
export function publishedSpec<P extends TrafficPolicy | AccessPolicy | VirtualMesh>({ kind, spec }: P): NonNullable<P["spec"]> {
  const given: NonNullable<P["spec"]> = spec ?? {};
  return FORMS[kind as keyof typeof FORMS](given);
}

/** The same for the traffic shift of a TrafficPolicy. */
export function publishedTrafficShift(policy: TrafficPolicy): NonNullable<TrafficPolicySpec["policy"]>["trafficShift"] {
  return publishedSpec(policy).policy?.trafficShift;
}
