import { useState } from "react";
import { useFleet } from "../../data/store.ts";
import { t } from "../../strings.ts";
import { Command } from "../Command.tsx";
import { Dialog } from "../Dialog.tsx";
import { Name } from "../Name.tsx";

/** Who is logged in, what is left out for want of which right, and the way out; nothing where there is no login. */
export function ViewerMenu() {
  const { viewer } = useFleet();
  const [isOpen, setOpen] = useState(false);
  if (viewer === undefined) return null;
  const { username, isPartial, missing, hasAllClusters, isExhausted } = viewer;
  // With all that is seen of it, for those who say what they see.
  const label = isPartial ? `${t.viewer.open(username)} ${t.viewer.partial}` : t.viewer.open(username);
  return (
    <>
      <button type="button" className="button small viewer" aria-label={label} onClick={() => setOpen(true)}>
        <Name text={username} /> {isPartial ? <span className="viewer-partial">{t.viewer.partial}</span> : null}
      </button>
      {isOpen ? (
        <Dialog title={t.viewer.title} close={() => setOpen(false)}>
          <p className="viewer-user">
            <span>
              {t.viewer.user} <Name text={username} isWrapped />
            </span>
            <button type="button" className="button small" data-first onClick={() => void logOut()}>
              {t.viewer.logOut}
            </button>
          </p>
          <p>{isPartial ? t.viewer.some : t.viewer.all}</p>
          {missing.length === 0 ? null : (
            <>
              <p>{t.viewer.missing}</p>
              <ul>
                {missing.map((resource) => (
                  <li key={resource}>
                    <code>{resource}</code>
                  </li>
                ))}
              </ul>
            </>
          )}
          {hasAllClusters ? null : <p>{t.viewer.clusters}</p>}
          {isExhausted ? <p>{t.viewer.exhausted}</p> : null}
          {isPartial ? (
            <>
              <p>{t.viewer.check}</p>
              <Command text={t.viewer.command} />
            </>
          ) : null}
        </Dialog>
      ) : null}
    </>
  );
}

async function logOut(): Promise<void> {
  await fetch("/logout", { method: "POST", redirect: "manual" });
  location.assign("/login");
}
