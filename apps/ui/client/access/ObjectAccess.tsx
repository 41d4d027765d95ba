import { keyOf, keyOfResource, type Resource } from "@isthmus/core";
import { type AccessEvaluator, accessEvaluator } from "@isthmus/translators";
import { useCallback, useMemo } from "react";
import { Destination, VirtualMesh, Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { destinationsOf } from "../model/selection.ts";
import { t } from "../strings.ts";
import "../styles/access.css";
import { useFleetTranslation } from "../translation/useFleetTranslation.ts";
import { useSliced } from "../translation/useSliced.ts";
import { callersOf, callsOf, closedTargets } from "./accessCounts.ts";
import { type AccessAxes, accessAxes, type TargetColumn } from "./accessMatrix.ts";
import { ClosedList, VerdictLine } from "./VerdictLine.tsx";

/** Who may call whom, as far as one object is concerned: computed as on the page Access. */
export function ObjectAccess({ object }: { readonly object: Resource }) {
  const fleet = useFleet();
  const base = useFleetTranslation();
  const evaluator = useMemo(() => (base === undefined ? undefined : accessEvaluator(base.translation)), [base]);
  const { snapshot } = fleet;
  const axes = useMemo(() => accessAxes({ snapshot }), [snapshot]);
  if (evaluator === undefined || base === undefined) return <p className="muted">{t.access.computing}</p>;
  const of = { evaluator, axes };
  const notes = [
    ...(fleet.viewer?.isPartial === true ? [t.viewer.access] : []),
    ...(base.unlike === 0 ? [] : [t.effect.unlike(base.unlike)]),
  ];
  return (
    <div className="object-access" aria-live="polite">
      {object.kind === VirtualMesh.kind ? <OfVirtualMesh {...of} virtualMesh={object as VirtualMesh} /> : null}
      {object.kind === Workload.kind ? <OfWorkload {...of} workload={object as Workload} /> : null}
      {object.kind === Destination.kind ? <OfDestinations {...of} destinations={[object as Destination]} /> : null}
      {notes.map((note) => (
        <p key={note} className="note">
          {note}
        </p>
      ))}
    </div>
  );
}

interface Of {
  readonly evaluator: AccessEvaluator;
  readonly axes: AccessAxes;
}

function OfVirtualMesh({ evaluator, axes, virtualMesh }: Of & { readonly virtualMesh: VirtualMesh }) {
  const { snapshot } = useFleet();
  const members = useMemo(() => Object.keys(virtualMesh.status?.meshes ?? {}), [virtualMesh]);
  const make = useCallback(() => {
    const isOfMember = ({ destinations: [ref] }: TargetColumn): boolean => {
      const mesh = ref && (snapshot.of(Destination).get(ref)?.spec?.mesh as { name?: string; namespace?: string } | undefined);
      return mesh?.name !== undefined && members.includes(keyOf({ name: mesh.name, namespace: mesh.namespace ?? "", clusterName: "" }));
    };
    return closedTargets(evaluator, { rows: axes.rows, columns: axes.columns.filter(isOfMember) });
  }, [evaluator, axes, members, snapshot]);
  const found = useSliced(make);
  return found === undefined ? <p className="muted">{t.access.computing}</p> : <ClosedList found={found} />;
}

function OfWorkload({ evaluator, axes, workload }: Of & { readonly workload: Workload }) {
  const fleet = useFleet();
  const { controller, serviceAccountName } = workload.spec?.kubernetes ?? {};
  const name = [controller?.clusterName ?? "", controller?.namespace ?? "", serviceAccountName || "default"].join("/");
  const destinations = useMemo(() => destinationsOf(fleet, workload), [fleet, workload]);
  const make = useCallback(() => {
    const row = axes.rows.find((one) => one.name === name);
    return row === undefined ? undefined : callsOf(evaluator, row, axes.columns);
  }, [evaluator, axes, name]);
  const out = useSliced(make);
  return (
    <>
      <VerdictLine title={t.access.out} found={out} side="from" name={name} />
      <OfDestinations evaluator={evaluator} axes={axes} destinations={destinations} />
    </>
  );
}

function OfDestinations({ destinations, ...of }: Of & { readonly destinations: readonly Destination[] }) {
  return (
    <>
      {destinations.map((destination) => (
        <OfDestination key={keyOfResource(destination)} {...of} destination={destination} isNamed={destinations.length > 1} />
      ))}
    </>
  );
}

interface OfDestinationProps extends Of {
  readonly destination: Destination;
  /** Whether there are others beside it. */
  readonly isNamed: boolean;
}

function OfDestination({ evaluator, axes, destination, isNamed }: OfDestinationProps) {
  const ref = destination.spec?.kubeService?.ref;
  const name = [ref?.clusterName ?? "", ref?.namespace ?? "", ref?.name ?? ""].join("/");
  const make = useCallback(() => {
    const column = axes.columns.find((one) => one.name === name);
    return column === undefined ? undefined : callersOf(evaluator, column, axes.rows);
  }, [evaluator, axes, name]);
  const found = useSliced(make);
  return <VerdictLine title={isNamed ? t.access.into(ref?.name ?? name) : t.access.in} found={found} side="to" name={name} />;
}
