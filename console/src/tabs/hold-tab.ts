/**
 * Takes a tab for this window until it is closed, so that no two windows write one tab. The browser frees it when the window goes, however it
 * goes. @returns whether it was free
 */
export function holdTab(id: string): Promise<{ readonly release: () => void } | null> {
  return new Promise((resolve) => {
    void navigator.locks.request(`skein-console tab ${id}`, { ifAvailable: true }, (lock) => {
      if (lock === null) return resolve(null);
      return new Promise<void>((release) => resolve({ release }));
    });
  });
}
