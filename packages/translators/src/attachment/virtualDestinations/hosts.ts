import { VirtualDestination } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { givenHostFindings } from "../../policy/hosts/givenHosts.ts";
import { precedence } from "../../policy/precedence.ts";
import type { AttachmentStep } from "../step.ts";
import { possibleHosts } from "./forms.ts";

/** The VirtualDestination that has a host, in words, by host. */
export type VirtualHosts = ReadonlyMap<string, string>;

/** No host. */
export const noVirtualHosts: VirtualHosts = new Map();

/** Gives each host to the first VirtualDestination, by precedence, that is right about everything else. */
export function virtualHosts({ inputs, translationContext, since }: AttachmentStep, before: VirtualHosts): VirtualHosts {
  if (since !== undefined && since.translationContext === translationContext && !since.changes.some(VirtualDestination)) return before;
  const hosts = new Map<string, string>();
  for (const virtualDestination of [...inputs.of(VirtualDestination)].sort(precedence(translationContext.ages))) {
    for (const host of possibleHosts(virtualDestination)) {
      // Who may not give a host keeps nobody else from it.
      if (hosts.has(host) || givenHostFindings("spec.hostname", host, virtualDestination, translationContext).length > 0) continue;
      hosts.set(host, formatRef(refOf(virtualDestination)));
    }
  }
  return hosts;
}
