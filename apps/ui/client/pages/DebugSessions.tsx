import { Command } from "../components/Command.tsx";
import { SessionEvents } from "../components/frame/SessionEvents.tsx";
import { useScope } from "../components/frame/useScope.ts";
import { Section } from "../components/Section.tsx";
import { PlainTable } from "../components/table/PlainTable.tsx";
import { useFleet } from "../data/store.ts";
import { logCommands } from "../model/commands.ts";
import { clusterNames, isInScope } from "../model/scope.ts";
import { t } from "../strings.ts";

// Of a fleet, enough to see how the command goes.
const MOST_COMMANDS = 5;

/** What became of agents, and where logs and metrics are. */
export function DebugSessions() {
  const fleet = useFleet();
  const scope = useScope();
  const clusters = clusterNames(fleet).filter((name) => isInScope(scope, [name]));
  return (
    <>
      <SessionEvents clusters={scope} />
      <Section title={t.debug.logs} note={t.debug.logsWhy}>
        {logCommands(clusters.slice(0, MOST_COMMANDS)).map((text) => (
          <Command key={text} text={text} />
        ))}
        {clusters.length > MOST_COMMANDS ? <p className="muted">{t.common.more(clusters.length - MOST_COMMANDS)}</p> : null}
      </Section>
      <Section title={t.debug.metrics} note={t.debug.metricsWhy}>
        <Command text={t.debug.metricsCommand} />
        <PlainTable
          label={t.debug.metricsOf}
          headers={[t.debug.metricsOf, t.debug.metric]}
          rows={t.debug.metricsRows.map(([what, metric]) => ({ key: metric, cells: [what, <code key="metric">{metric}</code>] }))}
        />
      </Section>
    </>
  );
}
