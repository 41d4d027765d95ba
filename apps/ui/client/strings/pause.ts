/** Words about live updates that are paused. */
export const pauseStrings = {
  pause: "Pause",
  resume: "Resume",
  why: "Live updates: what is shown stands still until they are resumed",
  since: (time: string, changes: number | undefined) =>
    changes === undefined
      ? `paused since ${time} · everything was loaded again`
      : `paused since ${time} · ${changes === 1 ? "1 change waits" : `${changes} changes wait`}`,
};
