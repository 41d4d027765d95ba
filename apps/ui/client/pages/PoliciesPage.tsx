import { fullKeyOf, type Resource, refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { Empty } from "../components/Empty.tsx";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Page } from "../components/Page.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { When } from "../components/Times.tsx";
import type { Column } from "../components/tableColumns.ts";
import { KubernetesCluster, POLICY_KINDS } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusterOf.ts";
import { policyMessage, policyTargets } from "../model/policyFacts.ts";
import { policyClusters } from "../model/scope.ts";
import { approvalOf } from "../model/status.ts";
import { t } from "../strings.ts";
import { ObjectTable } from "./ObjectTable.tsx";

const COLUMNS: readonly Column<Resource>[] = [
  {
    id: "name",
    title: t.columns.name,
    width: [9, 2],
    text: ({ metadata }) => metadata.name,
    cell: (policy) => <ObjectLink to={refOf(policy)} text={policy.metadata.name} />,
  },
  {
    id: "kind",
    title: t.columns.kind,
    width: [7.5, 0.9],
    token: "kind",
    text: ({ kind }) => kind,
    cell: ({ kind }) => kind,
  },
  {
    id: "ns",
    title: t.columns.namespace,
    width: [5.5, 0.8],
    token: "ns",
    text: ({ metadata }) => metadata.namespace ?? "",
    cell: ({ metadata }) => <Name text={metadata.namespace ?? ""} />,
  },
  {
    id: "cluster",
    title: t.columns.cluster,
    width: [6.2, 0.7],
    token: "cluster",
    text: (policy) => clusterOf(policy) || t.common.management,
    cell: (policy) => <Name text={clusterOf(policy) || t.common.management} />,
  },
  {
    id: "state",
    title: t.columns.state,
    width: [7, 1],
    token: "state",
    text: (policy) => approvalOf(policy).word,
    cell: (policy) => <StatusMark status={approvalOf(policy)} />,
  },
  {
    id: "targets",
    title: t.columns.targets,
    width: [4.5, 0.4],
    text: policyTargets,
    cell: (policy) => <span className="number">{policyTargets(policy)}</span>,
  },
  {
    id: "message",
    title: t.columns.message,
    width: [9.5, 4],
    text: policyMessage,
    cell: (policy) => <Name text={policyMessage(policy)} />,
  },
  {
    id: "age",
    title: t.columns.age,
    width: [5.6, 0.5],
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
