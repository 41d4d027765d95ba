import { fullKeyOf, refOf } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { ObjectLink } from "../components/ObjectLink.tsx";
import { Section } from "../components/Section.tsx";
import type { Workload } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { egressHosts, sidecarScope } from "../model/sidecarScope.ts";
import { t } from "../strings.ts";

// A Sidecar of a ServiceDependency can have thousands; its page has all.
const MOST_HOSTS = 30;

/** Which Sidecar of Istio applies to a workload, and which hosts its proxy knows because of that. */
export function SidecarSection({ workload }: { readonly workload: Workload }) {
  const fleet = useFleet();
  const scope = sidecarScope(fleet, workload);
  const isPartial = fleet.viewer?.isPartial === true;
  return (
    <Section title={t.workloads.sidecar} note={isPartial ? t.workloads.sidecarPartial : undefined}>
      {scope === undefined ? (
        <p className="muted">{t.workloads.sidecarNone}</p>
      ) : (
        <>
          <p className="note">
            {t.workloads.sidecarLevels[scope.level]}
            {scope.sidecars.length > 1 ? ` ${t.workloads.sidecarSeveral}` : ""}
          </p>
          <ul className="links">
            {scope.sidecars.map(({ sidecar, isGenerated }) => {
              const hosts = egressHosts(sidecar);
              return (
                <li key={fullKeyOf(sidecar)} className="stack">
                  <span className="inline">
                    <ObjectLink to={refOf(sidecar)} hasKind />
                    {isGenerated ? <span className="muted">{t.workloads.sidecarGenerated}</span> : null}
                  </span>
                  <span>
                    {t.workloads.egress}:{" "}
                    {hosts === undefined ? t.common.all : <Name text={hosts.slice(0, MOST_HOSTS).join(", ") || t.common.none} isWrapped />}
                    {(hosts ?? []).length > MOST_HOSTS ? ` ${t.common.more((hosts ?? []).length - MOST_HOSTS)}` : ""}
                  </span>
                </li>
              );
            })}
          </ul>
        </>
      )}
    </Section>
  );
}
