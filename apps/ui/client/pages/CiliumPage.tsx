import { keyOfResource } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { Choices } from "../components/Choices.tsx";
import { Empty } from "../components/Empty.tsx";
import { Page } from "../components/frame/Page.tsx";
import { usePageSearch } from "../components/frame/usePageSearch.ts";
import { useScope } from "../components/frame/useScope.ts";
import { Name } from "../components/Name.tsx";
import { ClusterChip } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { CiliumEndpoint } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { type CiliumCluster, type CiliumPolicyRow, ciliumClusters, ciliumPolicyRows } from "../model/clusters/ciliumRows.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { settingsPatch } from "../model/commands.ts";
import { type PlaneSettings, planeSettings } from "../model/planeSettings.ts";
import { isInScope } from "../model/scope.ts";
import { t } from "../strings.ts";
import { Problems } from "../summaries/ObjectErrors.tsx";
import { CILIUM_ENDPOINT_COLUMNS, CILIUM_POLICY_COLUMNS } from "./ciliumColumns.tsx";
import { rowClusters, rowKey } from "./discoveredColumns.tsx";
import { ObjectTable } from "./ObjectTable.tsx";
import { useDiscovered } from "./useDiscovered.ts";

const VIEWS = ["policies", "endpoints"] as const;
const policyClusters = ({ object }: CiliumPolicyRow) => [clusterOf(object)];
const policyKey = ({ key }: CiliumPolicyRow) => key;

/** The network layer: what Cilium enforces in each cluster, and of whom it is. */
export function CiliumPage() {
  const fleet = useFleet();
  const { snapshot, generated } = fleet;
  const [{ view }, change] = usePageSearch();
  const scope = useScope();
  const policies = useMemo(() => ciliumPolicyRows({ snapshot, generated }), [snapshot, generated]);
  const clusters = useMemo(
    () => ciliumClusters(snapshot, policies).filter(({ cluster }) => isInScope(scope, [cluster])),
    [snapshot, policies, scope],
  );
  const endpoints = useDiscovered(CiliumEndpoint);
  const settings = planeSettings(fleet);
  const chosen = view === "endpoints" ? view : "policies";
  return (
    <Page title={t.cilium.title}>
      <p className="crumbs">
        <Link to="/access">{t.nav.access}</Link>
      </p>
      <p className="note">
        {t.cilium.why} {settings.isKnown ? t.cilium.modes.get(settings.spec.cilium?.accessPolicies ?? "DISABLED") : t.cilium.modeUnknown}
      </p>
      {clusters.length === 0 && policies.length === 0 && endpoints.length === 0 ? (
        <Empty title={t.cilium.noCilium} how={t.cilium.noCiliumHow} command={t.cilium.noCiliumCommand} />
      ) : (
        <>
          <Clusters clusters={clusters} />
          <Choices
            label={t.cilium.show}
            choices={VIEWS}
            chosen={chosen}
            textOf={(each) => `${t.cilium.views[each]} ${(each === "policies" ? policies : endpoints).length}`}
            choose={(each) => change({ view: each === "endpoints" ? each : undefined, sort: undefined })}
          />
          {chosen === "policies" ? (
            <ObjectTable
              key="policies"
              what={t.cilium.policiesWhat}
              rows={policies}
              keyOf={policyKey}
              clustersOf={policyClusters}
              columns={CILIUM_POLICY_COLUMNS}
              objectOf={({ object }) => object}
              isBesideOther={({ isTaken }) => isTaken}
              empty={<NoPolicies settings={settings} />}
            />
          ) : (
            <ObjectTable
              key="endpoints"
              what={t.cilium.endpointsWhat}
              rows={endpoints}
              keyOf={rowKey}
              clustersOf={rowClusters}
              columns={CILIUM_ENDPOINT_COLUMNS}
              objectOf={({ object }) => object}
              empty={<NoEndpoints settings={settings} />}
            />
          )}
        </>
      )}
    </Page>
  );
}

function Clusters({ clusters }: { readonly clusters: readonly CiliumCluster[] }) {
  if (clusters.length === 0) return null;
  const { cluster, nameInCilium, enforcement, clusterMesh, identities, nodes, byHand, generated } = t.cilium;
  return (
    <Section title={t.cilium.clusters}>
      <PlainTable
        label={t.cilium.clusters}
        headers={[cluster, t.columns.version, nameInCilium, enforcement, clusterMesh, identities, nodes, byHand, generated]}
        rows={clusters.map((row) => {
          const { cilium } = row.mesh.spec ?? {};
          return {
            key: keyOfResource(row.mesh),
            cells: [
              <ClusterChip key="cluster" name={row.cluster} />,
              <Name key="version" text={cilium?.version || "–"} />,
              <Name key="name" text={[cilium?.clusterName, cilium?.clusterId].filter(Boolean).join(" · ") || "–"} />,
              <Name key="enforcement" text={cilium?.enforcement || "–"} />,
              cilium?.clusterMesh === true ? t.cilium.yes : t.cilium.no,
              row.identities ?? "–",
              row.nodes ?? "–",
              row.byHand,
              row.generated,
            ],
          };
        })}
      />
      <Problems
        errors={[]}
        warnings={clusters.flatMap(({ cluster, mesh }) => (mesh.spec?.cilium?.warnings ?? []).map((text) => `${cluster}: ${text}`))}
      />
    </Section>
  );
}

interface OfSettings {
  readonly settings: PlaneSettings;
}

function NoPolicies({ settings }: OfSettings) {
  if (!settings.isKnown) return <Empty title={t.cilium.noPolicies} how={t.cilium.settingsUnknown} />;
  const { namespace, spec } = settings;
  const isOff = (spec.cilium?.accessPolicies ?? "DISABLED") === "DISABLED";
  return (
    <Empty
      title={t.cilium.noPolicies}
      {...(isOff ? { how: t.cilium.noPoliciesHow, command: settingsPatch(namespace, { cilium: { accessPolicies: "AUDIT" } }) } : {})}
    />
  );
}

function NoEndpoints({ settings }: OfSettings) {
  if (!settings.isKnown) return <Empty title={t.cilium.noEndpoints} how={t.cilium.settingsUnknown} />;
  const { namespace, spec } = settings;
  const mode = spec.discovery?.cilium?.endpoints ?? "SUMMARY";
  const how = t.cilium.endpointsModes.get(mode);
  return (
    <Empty
      title={t.cilium.noEndpoints}
      {...(how === undefined ? {} : { how })}
      {...(mode === "FULL" ? {} : { command: settingsPatch(namespace, { discovery: { cilium: { endpoints: "FULL" } } }) })}
    />
  );
}
