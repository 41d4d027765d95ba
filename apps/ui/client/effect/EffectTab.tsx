import { type Resource, refOf } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import { useState } from "react";
import { Empty } from "../components/Empty.tsx";
import { Loading } from "../components/Loading.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { PartialNote } from "../components/PartialNote.tsx";
import { Section } from "../components/Section.tsx";
import { AccessPolicy, Destination, ServiceDependency, TrafficPolicy, VirtualDestination, VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { targetsOf } from "../model/policyTargets.ts";
import { t } from "../strings.ts";
import { AllowedCallersTable } from "../summaries/AllowedCallersTable.tsx";
import { useFleetTranslation } from "../translation/useFleetTranslation.ts";
import { DestinationEffectView, hostsOf, Targets } from "./DestinationEffect.tsx";
import { FederatedHosts } from "./FederatedHosts.tsx";
import { KnownHosts } from "./KnownHosts.tsx";

// Each is a table of its own.
const PAGE = 10;

/** What requests meet because of an object. */
export function EffectTab({ object }: { readonly object: Resource }) {
  const base = useFleetTranslation();
  if (!EXPLAINED.has(object.kind)) return <Empty title={t.effect.otherKind} how={t.effect.otherKindWhy} />;
  if (base === undefined) return <Loading />;
  const { translation, unlike } = base;
  return (
    <>
      <p className="note">{unlike === 0 ? t.effect.why : `${t.effect.why} ${t.effect.unlike(unlike)}`}</p>
      <PartialNote text="translated" />
      <Effect object={object} translation={translation} />
    </>
  );
}

const EXPLAINED: ReadonlySet<string> = new Set(
  [Destination, TrafficPolicy, AccessPolicy, VirtualDestination, VirtualMesh, ServiceDependency].map(({ kind }) => kind),
);

function Effect({ object, translation }: { readonly object: Resource; readonly translation: Translation }) {
  switch (object.kind) {
    case Destination.kind:
      return <DestinationEffectView translation={translation} destination={object as Destination} />;
    case VirtualDestination.kind:
      return <VirtualHostEffect translation={translation} host={(object as VirtualDestination).spec?.hostname ?? ""} />;
    case VirtualMesh.kind:
      return <FederatedHosts translation={translation} virtualMesh={object as VirtualMesh} />;
    case ServiceDependency.kind:
      return <KnownHosts dependency={object} />;
    default:
      return <PolicyEffect policy={object} translation={translation} />;
  }
}

/** Where requests to the host of a VirtualDestination go, from each cluster that knows it. */
function VirtualHostEffect({ translation, host }: { readonly translation: Translation; readonly host: string }) {
  const known = [...hostsOf(translation).values()].filter((one) => one.host === host);
  if (known.length === 0) return <Empty title={t.effect.noCaller} />;
  return known.map((one) => (
    <Section key={one.caller} title={t.effect.from(one.caller, one.host)}>
      <Targets host={one} />
    </Section>
  ));
}

/** What a policy sets on each Destination on which it is in force. */
function PolicyEffect({ policy, translation }: { readonly policy: Resource; readonly translation: Translation }) {
  const fleet = useFleet();
  const [most, setMost] = useState(PAGE);
  const targets = targetsOf(fleet, policy).flatMap(({ destination, state }) =>
    destination !== undefined && state === "ACCEPTED" ? [destination] : [],
  );
  if (targets.length === 0) return <Empty title={t.effect.nowhereInForce} how={t.effect.nowhereInForceWhy} />;
  return (
    <>
      {targets.slice(0, most).map((destination) => (
        <div key={destination.metadata.name} className="effect-target">
          <h2>
            <ObjectLink to={refOf(destination)} hasKind />
          </h2>
          {policy.kind === AccessPolicy.kind ? (
            <AllowedCallersTable destination={destination} />
          ) : (
            <DestinationEffectView translation={translation} destination={destination} policy={refOf(policy)} />
          )}
        </div>
      ))}
      {targets.length > most ? (
        <button type="button" className="button" onClick={() => setMost(most + PAGE)}>
          {t.common.more(targets.length - most)}
        </button>
      ) : null}
    </>
  );
}
