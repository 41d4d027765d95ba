import { keyOfResource, refOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { Name } from "../components/Name.tsx";
import { ClusterChip, ObjectLink } from "../components/ObjectLink.tsx";
import { StatusMark } from "../components/StatusMark.tsx";
import { useServerNow } from "../components/Times.tsx";
import type { VirtualMesh } from "../data/kinds.ts";
import { useFleet } from "../data/store.ts";
import { millisecondsOf, spanText } from "../model/age.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { type MemberGateway, type MeshGateways, meshGateways } from "../model/memberGateways.ts";
import { meshFacts } from "../model/meshFacts.ts";
import { t } from "../strings.ts";

/** Through which gateway, at which address, others reach each mesh of a VirtualMesh. Nobody probes them: of what passed lately proxies know. */
export function GatewayList({ virtualMesh }: { readonly virtualMesh: VirtualMesh }) {
  const fleet = useFleet();
  const now = useServerNow();
  const members = meshGateways(fleet, virtualMesh, now);
  if (members.length === 0) return <span className="muted">–</span>;
  return (
    <ul className="gateways">
      {members.map((member) => (
        <li key={keyOfResource(member.mesh)} className="inline">
          <ClusterChip name={clusterOf(member.mesh) || (meshFacts(member.mesh).installation?.cluster ?? t.common.management)} />
          {member.gateways.map((gateway) => (
            <Gateway key={gateway.name} gateway={gateway} now={now} />
          ))}
          <Problem member={member} isAlone={members.length === 1} />
        </li>
      ))}
    </ul>
  );
}

function Gateway({ gateway: { destination, name, addresses, traffic }, now }: { readonly gateway: MemberGateway; readonly now: number }) {
  return (
    <span className="inline">
      {destination === undefined ? (
        <Name text={name} />
      ) : (
        <ObjectLink to={refOf(destination)} text={destination.spec?.kubeService?.ref?.name ?? name} />
      )}
      {addresses.length === 0 ? <span className="muted">{t.meshes.pendingAddress}</span> : <Name text={addresses.join(", ")} isWrapped />}
      {traffic === undefined ? null : (
        <span className="muted">
          {t.meshes.gatewayTraffic(t.traffic.minutes(traffic.minutes), spanText(now - (millisecondsOf(traffic.at) ?? now)))}
        </span>
      )}
    </span>
  );
}

function Problem({ member: { gateways, problems }, isAlone }: { readonly member: MeshGateways; readonly isAlone: boolean }) {
  if (problems.length === 0) return gateways.length > 0 ? null : <span className="muted">{isAlone ? t.meshes.gatewayNotNeeded : "–"}</span>;
  return (
    <>
      {problems.map(({ code, message }) => (
        <span key={`${code} ${message}`} className="inline" title={message}>
          <StatusMark status={{ tone: "bad", word: t.meshes.notReachable }} />
          <Link to="/insights/$code" params={{ code }}>
            {code}
          </Link>
        </span>
      ))}
    </>
  );
}
