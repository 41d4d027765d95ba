import { fullKeyOf, type Resource, refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { When } from "../components/Times.tsx";
import type { Column } from "../components/table/tableColumns.ts";
import { KubernetesCluster, POLICY_KINDS } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { visibleText } from "../model/lines/visibleText.ts";
import { policyMessage } from "../model/policyFacts.ts";
import { type PhaseName, policyPhase } from "../model/policyPhases.ts";
import { policyClusters } from "../model/scope.ts";
import { approvalOf } from "../model/status.ts";
import { t } from "../strings.ts";
import { ObjectTable } from "./ObjectTable.tsx";

// Those of their titles.
const PHASE_WIDTHS = { Translated: 4.8, Delivered: 4.4, Applied: 4.1 } as const;

// What is applied says most.
const PHASE_SPARES = { Delivered: 5, Translated: 6, Applied: 7 } as const;

/** How far policies are in one phase: those that are not done first, and in the filter `yes`, `no` or `unknown`. */
function phaseColumn(name: PhaseName): Column<Resource> {
  const word = (policy: Resource) => {
    const phase = policyPhase(policy, name);
    return phase === undefined ? t.policies.phase.unknown : phase.isDone ? t.policies.phase.yes : t.policies.phase.no;
  };
  const count = (policy: Resource) => {
    const { done, all } = policyPhase(policy, name) ?? {};
    return done === undefined || all === undefined ? "" : `${done}/${all}`;
  };
  return {
    id: name.toLowerCase(),
    title: t.policies.phases[name],
    width: [PHASE_WIDTHS[name], 0.1],
    spare: PHASE_SPARES[name],
    token: name.toLowerCase(),
    values: (policy) => [word(policy)],
    text: (policy) => [word(policy), count(policy)].filter((part) => part !== "").join(" "),
    sort(policy) {
      const { isDone, done = 0, all = 0 } = policyPhase(policy, name) ?? {};
      return isDone === undefined ? -1 : isDone ? 2 : all === 0 ? 0 : done / all;
    },
    cell(policy) {
      const phase = policyPhase(policy, name);
      if (phase === undefined) return <span className="muted">–</span>;
      return (
        <span title={visibleText(phase.message)}>
          <StatusMark status={{ tone: phase.tone, word: count(policy) || word(policy) }} />
          {count(policy) === "" ? null : <span className="visually-hidden"> {word(policy)}</span>}
        </span>
      );
    },
  };
}

const COLUMNS: readonly Column<Resource>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [7.5, 1.6],
    text: ({ metadata }) => metadata.name,
    cell: (policy) => <ObjectLink to={refOf(policy)} text={policy.metadata.name} />,
  },
  {
    id: "kind",
    title: t.columns.kind,
    width: [9, 0.3],
    spare: 4,
    token: "kind",
    text: ({ kind }) => kind,
    cell: ({ kind }) => kind,
  },
  {
    id: "ns",
    title: t.columns.namespace,
    width: [5.2, 0.5],
    spare: 3,
    token: "ns",
    text: ({ metadata }) => metadata.namespace ?? "",
    cell: ({ metadata }) => <Name text={metadata.namespace ?? ""} />,
  },
  {
    id: "cluster",
    title: t.columns.cluster,
    width: [6, 0.3],
    spare: 1,
    token: "cluster",
    text: (policy) => clusterOf(policy) || t.common.management,
    cell: (policy) => <Name text={clusterOf(policy) || t.common.management} />,
  },
  {
    id: "state",
    title: t.columns.state,
    width: [6, 0.4],
    token: "state",
    text: (policy) => approvalOf(policy).word,
    cell: (policy) => <StatusMark status={approvalOf(policy)} />,
  },
  ...(["Translated", "Delivered", "Applied"] as const).map(phaseColumn),
  {
    id: "message",
    title: t.columns.message,
    width: [12, 6],
    isLong: true,
    // The panel beside the table has it in full.
    spare: 8,
    text: policyMessage,
    cell: (policy) => <Name text={policyMessage(policy)} />,
  },
  {
    id: "age",
    title: t.columns.age,
    width: [4.6, 0.1],
    spare: 2,
    text: ({ metadata }) => metadata.creationTimestamp ?? "",
    cell: ({ metadata }) => <When time={metadata.creationTimestamp} />,
  },
];

/** Everything that users ask of the plane, with how it stands. */
export function PoliciesPage() {
  const fleet = useFleet();
  const { snapshot, source, viewer } = fleet;
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the fleet only the snapshot is read
  const clustersOf = useCallback((policy: Resource) => policyClusters(fleet, policy), [snapshot]);
  const rows = useMemo(() => POLICY_KINDS.flatMap((kind) => [...snapshot.of(kind)]), [snapshot]);
  return (
    <Page title={t.nav.policies}>
      <p>
        <Link className="button" to="/policies/what-if">
          {t.whatIf.link}
        </Link>
      </p>
      <ObjectTable
        what={t.policies.what}
        rows={rows}
        keyOf={fullKeyOf}
        clustersOf={clustersOf}
        columns={COLUMNS}
        objectOf={(policy) => policy}
        empty={
          source?.kind === "store" && viewer?.isPartial !== true && snapshot.of(KubernetesCluster).size === 0 ? (
            <Empty title={t.policies.notInStore} how={t.policies.notInStoreHow} command={t.policies.notInStoreCommand} />
          ) : (
            <Empty title={t.policies.empty} how={t.policies.emptyHow} command={t.policies.emptyCommand} />
          )
        }
      />
    </Page>
  );
}
