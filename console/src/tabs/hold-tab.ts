/** How long the page before a reload takes to go, at most. */
const GOING_MS = 2_000;
const OWN_KEY = 'skein-console tabs';

/**
 * Takes a tab for this window until it is closed, so that no two windows write one tab. The browser frees it when the window goes, however it
 * goes. @param isOwn this window had it before a reload: the page that goes may hold it for a moment @returns whether it was free
 */
export function holdTab(id: string, isOwn = false): Promise<{ readonly release: () => void } | null> {
  const options = isOwn ? { signal: AbortSignal.timeout(GOING_MS) } : { ifAvailable: true };
  return new Promise((resolve) => {
    navigator.locks
      .request(`skein-console tab ${id}`, options, (lock) => {
        if (lock === null) return resolve(null);
        return new Promise<void>((release) => resolve({ release }));
      })
      .catch(() => resolve(null));
  });
}

/** Tabs that this window had before it was loaded again. */
export function ownTabs(): { readonly ids: ReadonlySet<string>; readonly activeId: string } {
  try {
    const [activeId, ...ids] = JSON.parse(sessionStorage.getItem(OWN_KEY) ?? '[]') as readonly string[];
    return { ids: new Set(ids), activeId: activeId ?? '' };
  } catch {
    return { ids: new Set(), activeId: '' };
  }
}

export const rememberTabs = (ids: readonly string[], activeId: string): void =>
  sessionStorage.setItem(OWN_KEY, JSON.stringify([activeId, ...ids]));
