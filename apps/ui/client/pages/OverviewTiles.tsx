import type { Resource } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { PageSearch } from "../components/frame/usePageSearch.ts";
import { useScope } from "../components/frame/useScope.ts";
import { SeverityTotals } from "../components/Severity.tsx";
import { StatusMark, ToneShape } from "../components/StatusMark.tsx";
import { useServerNow } from "../components/Times.tsx";
import type { Fleet } from "../data/fleet.ts";
import { Destination, Mesh, POLICY_KINDS, VirtualMesh, Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { millisecondsOf, spanText } from "../model/age.ts";
import { certificateStatus, certificateUse, firstToEnd } from "../model/certificateRows.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { clusterRows } from "../model/clusters/clusterRows.ts";
import { fleetSync, secondsText } from "../model/clusters/syncTimes.ts";
import { insightIndexOf, type SeverityCounts } from "../model/insights/insightIndex.ts";
import { formatFilter } from "../model/lines/tokens.ts";
import { meshFacts } from "../model/meshFacts.ts";
import { isInScope, policyClusters } from "../model/scope.ts";
import { approvalOf, type Status } from "../model/status.ts";
import { t } from "../strings.ts";

/** Totals of the fleet: each leads to the list that it counts. */
export function OverviewTiles() {
  const fleet = useFleet();
  const { snapshot } = fleet;
  const scope = useScope();
  const isShown = (object: Resource) => isInScope(scope, [clusterOf(object)]);
  const isPolicyShown = (policy: Resource) => scope.size === 0 || isInScope(scope, policyClusters(fleet, policy));
  const allClusters = clusterRows(fleet);
  const clusters = allClusters.filter(({ name }) => isInScope(scope, [name])).map(({ status }) => status);
  const allPolicies = POLICY_KINDS.flatMap((kind) => [...snapshot.of(kind)]);
  const policies = allPolicies.filter(isPolicyShown).map(approvalOf);
  const meshes = [...snapshot.of(Mesh)].filter(isShown).map((mesh) => meshFacts(mesh));
  const [destinations, workloads] = [snapshot.of(Destination), snapshot.of(Workload)].map((all) =>
    scope.size === 0 ? all.size : [...all].filter(isShown).length,
  );
  const certificates = fleet.certificates.filter(({ cluster }) => isInScope(scope, [cluster]));
  const types = [...new Set(meshes.map(({ type }) => type))].map((type) => `${type} ${meshes.filter((mesh) => mesh.type === type).length}`);
  const { counts } = insightIndexOf(fleet, scope);
  const all = insightIndexOf(fleet).counts;
  return (
    <div className="tiles">
      <Tile title={t.nav.clusters} to="/clusters" total={clusters.length} of={allClusters.length}>
        <States statuses={clusters} to="/clusters" />
      </Tile>
      <Tile title={t.nav.meshes} to="/meshes" total={meshes.length} of={snapshot.of(Mesh).size}>
        <span className="muted">
          {[...types, `${t.columns.virtualMesh} ${[...snapshot.of(VirtualMesh)].filter(isPolicyShown).length}`].join(" · ")}
        </span>
      </Tile>
      <Tile title={t.nav.policies} to="/policies" total={policies.length} of={allPolicies.length}>
        <States statuses={policies} to="/policies" />
      </Tile>
      <Tile title={t.nav.destinations} to="/destinations" total={destinations ?? 0} of={snapshot.of(Destination).size}>
        <span className="muted">{`${t.nav.workloads} ${t.common.of(workloads ?? 0, snapshot.of(Workload).size)}`}</span>
      </Tile>
      <Tile title={t.nav.insights} to="/insights" total={sumOf(counts)} of={sumOf(all)}>
        <SeverityTotals counts={counts} />
      </Tile>
      <Tile title={t.overview.certificates} to="/meshes/certificates" total={certificates.length} of={fleet.certificates.length}>
        <NextCertificate certificates={certificates} />
      </Tile>
      <SyncTile clusters={clusters.length} />
    </div>
  );
}

interface TileProps {
  readonly title: string;
  readonly to: "/clusters" | "/meshes" | "/meshes/certificates" | "/policies" | "/destinations" | "/insights";
  readonly total: number | string;
  /** How many there are in all clusters; undefined: it is no count. */
  readonly of?: number;
  readonly children: ReactNode;
}

function Tile({ title, to, total, of, children }: TileProps) {
  return (
    <div className="tile">
      <Link to={to} className="tile-link">
        <span className="tile-title">{title}</span>
        <span className="tile-total">
          {total}
          {of === undefined || total === of ? null : <span className="tile-of">{t.scope.ofAll(of)}</span>}
        </span>
      </Link>
      <div className="tile-more">{children}</div>
    </div>
  );
}

/** How long changes took in all of the clusters that are shown, and of how many of them that is known. */
function SyncTile({ clusters }: { readonly clusters: number }) {
  const { times, known } = fleetSync(useFleet().activity, useScope(), useServerNow());
  const total = times === undefined ? t.traffic.unknown : secondsText(times.p95);
  const more = known === 0 ? t.traffic.syncNever : times === undefined ? t.traffic.syncNone : t.traffic.syncCount(times.count);
  return (
    <Tile title={t.traffic.syncColumn} to="/clusters" total={total}>
      <span className="muted">{[more, ...(known === 0 ? [] : [t.traffic.syncClusters(known, clusters)])].join(" · ")}</span>
    </Tile>
  );
}

/** How many there are of each state; each is a link to those. */
function States({ statuses, to }: { readonly statuses: readonly Status[]; readonly to: "/clusters" | "/policies" }) {
  const words = new Map<string, { readonly status: Status; readonly count: number }>();
  for (const status of statuses) words.set(status.word, { status, count: (words.get(status.word)?.count ?? 0) + 1 });
  return (
    <span className="totals">
      {[...words.values()].map(({ status: { tone, word }, count }) => {
        const search: PageSearch = { q: formatFilter({ tokens: [{ key: "state", values: [word] }], words: [] }) };
        return (
          <Link key={word} to={to} search={search} className="status" data-tone={tone}>
            <ToneShape tone={tone} />
            <span>{`${count} ${word}`}</span>
          </Link>
        );
      })}
    </span>
  );
}

function sumOf({ error, warning, info }: SeverityCounts): number {
  return error + warning + info;
}

function NextCertificate({ certificates }: Pick<Fleet, "certificates">) {
  const now = useServerNow();
  const next = firstToEnd(certificates, now);
  if (next === undefined) return <span className="muted">{t.common.none}</span>;
  const name = `${certificateUse(next)} ${next.cluster || next.name}`;
  const left = (millisecondsOf(next.notAfter) ?? now) - now;
  if (left <= 0) return <StatusMark status={{ tone: "bad", word: t.overview.expired(name) }} />;
  const { tone } = certificateStatus(next, now);
  return (
    <StatusMark status={{ tone: tone === "good" && left < SOON_MS ? "warning" : tone, word: t.overview.next(name, spanText(left)) }} />
  );
}

const SOON_MS = 3_600_000;
