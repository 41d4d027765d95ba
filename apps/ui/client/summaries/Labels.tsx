import { Name } from "../components/Name.tsx";

/** Labels as chips; nothing for none. */
export function Labels({ labels }: { readonly labels: Readonly<Record<string, string>> | undefined }) {
  const entries = Object.entries(labels ?? {});
  if (entries.length === 0) return <span className="muted">–</span>;
  return (
    <span className="chips">
      {entries.map(([key, value]) => (
        <span key={key} className="chip">
          <Name text={`${key}=${value}`} />
        </span>
      ))}
    </span>
  );
}
