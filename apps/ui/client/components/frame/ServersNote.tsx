import { useFleet } from "../../data/store.ts";
import { serversText } from "../../model/clusters/agentSkew.ts";
import { t } from "../../strings.ts";
import { StatusMark } from "../StatusMark.tsx";

/** Which versions of the management server run, with a warning where they differ; nothing where that is not known. */
export function ServersNote() {
  const { clock } = useFleet();
  const servers = serversText(clock?.servers);
  if (servers === undefined) return null;
  return (
    <p className="note">
      {servers.isMixed ? <StatusMark status={{ tone: "warning", word: servers.text }} /> : servers.text} {t.clusters.supported}
    </p>
  );
}
