import type { AgentSkew } from "../model/clusters/agentSkew.ts";
import { t } from "../strings.ts";
import { Name } from "./Name.tsx";
import { ToneShape } from "./StatusMark.tsx";

/** The version of an agent, and how it stands beside that of the servers. */
export function AgentVersion({ version, skew }: { readonly version: string | undefined; readonly skew: AgentSkew | undefined }) {
  if (version === undefined) return <span className="muted">–</span>;
  return (
    <span className="agent-version">
      <Name text={version} />
      {skew === undefined ? null : skew.isSupported ? (
        <span className="muted" title={t.clusters.skewWhy}>
          {skew.mark}
        </span>
      ) : (
        <span className="status" data-tone="warning" title={t.clusters.skewUnsupported}>
          <ToneShape tone="warning" />
          <span>{skew.mark}</span>
          <span className="visually-hidden">{t.clusters.skewUnsupported}</span>
        </span>
      )}
    </span>
  );
}
