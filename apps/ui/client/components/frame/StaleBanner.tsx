import { useFleetState } from "../../data/store.ts";
import { t } from "../../strings.ts";
import { Name } from "../Name.tsx";

/** Says why what is shown is old, while it is. */
export function StaleBanner() {
  const { fleet, connection } = useFleetState();
  if (!fleet.isReady) return null;
  const problem = fleet.clock?.problem;
  if (connection.isConnected && problem === undefined) return null;
  return (
    <div className="banner stale" role="alert">
      {connection.isConnected ? <Name text={t.banner.problem(problem ?? "")} isWrapped /> : t.banner.disconnected}
    </div>
  );
}
