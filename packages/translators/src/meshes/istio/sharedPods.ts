import type { AuthorizationRule } from "@isthmus/api";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import { isSame } from "../../incremental/rows.ts";
import type { DestinationInputs, PodSharer } from "../inputs.ts";
import { podPorts } from "./podPorts.ts";

/** Rules of Istio are about pods: on pods of several Services those about one of them are limited to its ports. */
export interface LimitedRule {
  /** Undefined: no call is left that it could allow. */
  readonly rule: AuthorizationRule | undefined;
  readonly findings: readonly Finding[];
}

/** The inputs on which that depends. */
export type SharingInputs = Pick<DestinationInputs, "destination" | "accessPolicies" | "heldAccess" | "podSharers">;

/**
 * A rule for the pods of a Service, where others of those pods have AccessPolicies too: for the container ports that it leads to, and
 * those of Services without AccessPolicies, to which it led before.
 */
export function limitedToService(rule: AuthorizationRule, inputs: SharingInputs): LimitedRule {
  const { destination, podSharers } = inputs;
  const guarded = podSharers.filter((sharer) => isGuarded(sharer) && !isSameAccess(sharer, inputs));
  if (guarded.length === 0) return { rule, findings: [] };
  const own = podPorts(destination);
  const closed = guarded.flatMap((sharer) => podPorts(sharer.destination)).map(({ number }) => number);
  const open = podSharers.filter((sharer) => !isGuarded(sharer)).flatMap((sharer) => podPorts(sharer.destination));
  // A port of an unknown number may be any of them.
  const beside = closed.includes(undefined) ? [] : open.filter(({ number }) => !closed.includes(number));
  const known = [...own, ...beside].flatMap(({ number }) => number ?? []);
  const ports = [...new Set(known)].sort((a, b) => a - b).map(String);
  const others = guarded.filter((sharer) => podPorts(sharer.destination).some(({ number }) => own.some((port) => port.number === number)));
  const findings = [
    ...own.flatMap(({ name, number }) => (number === undefined ? [portUnknown(name, nameOf(guarded[0]))] : [])),
    ...others.map((other) => sharesPort(nameOf(other))),
  ];
  const limitedRule = onPorts(rule, ports);
  const isEmpty = limitedRule === undefined && findings.every(({ state }) => state !== "INVALID");
  return { rule: limitedRule, findings: isEmpty ? [...findings, portsOfOthers(ports)] : findings };
}

function isGuarded({ accessPolicies, heldAccess }: PodSharer): boolean {
  return accessPolicies.length + heldAccess.length > 0;
}

type Access = Pick<PodSharer, "accessPolicies" | "heldAccess">;

function isSameAccess(left: Access, right: Access): boolean {
  const isSameForm = ({ policy, form }: Access["heldAccess"][number], other: Access["heldAccess"][number] | undefined) =>
    policy === other?.policy && form === other.form;
  return (
    isSame(left.accessPolicies, right.accessPolicies) &&
    left.heldAccess.length === right.heldAccess.length &&
    left.heldAccess.every((held, i) => isSameForm(held, right.heldAccess[i]))
  );
}

function onPorts(rule: AuthorizationRule, ports: readonly string[]): AuthorizationRule | undefined {
  const operations = rule.to === undefined ? [{ operation: { ports } }] : rule.to.flatMap((one) => limited(one, ports));
  return operations.length === 0 || ports.length === 0 ? undefined : { ...rule, to: operations };
}

type Operation = NonNullable<AuthorizationRule["to"]>[number];

function limited(one: Operation, ports: readonly string[]): readonly Operation[] {
  const named = one.operation?.ports;
  const left = named === undefined ? ports : named.filter((port) => ports.includes(port));
  return left.length === 0 ? [] : [{ ...one, operation: { ...one.operation, ports: left } }];
}

function nameOf(sharer: PodSharer | undefined): string {
  const { name = "", namespace = "" } = sharer?.destination.spec?.kubeService?.ref ?? {};
  return `${namespace}/${name}`;
}

function portUnknown(port: string, other: string): Finding {
  return invalidFinding(
    "PodsShared",
    `port ${port}: calls are not allowed, because its number is not known and Service ${other} has the same pods: set a number as its targetPort, or start a pod that has a port of this name`,
  );
}

function portsOfOthers(ports: readonly string[]): Finding {
  return invalidFinding(
    "PodsShared",
    `spec.allowedPorts: none of them is a container port of the Service, whose pods are those of other Services too: name ${ports.join(", ")}, or select the other Service`,
  );
}

function sharesPort(other: string): Finding {
  return warningFinding(
    "PodsShared",
    `Service ${other} has the same pods and ports and other AccessPolicies: Istio cannot distinguish calls to the two, so what is allowed on one is allowed on the other: select pods of their own, or write the same AccessPolicies for both`,
  );
}
