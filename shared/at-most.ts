/** Resolves when `work` has settled, fulfilled or rejected, or after `timeMs`; the work itself goes on. */
export async function atMost(work: Promise<unknown>, timeMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMs);
  });
  try {
    await Promise.race([work, late]);
  } catch {
    // The caller waits for the end of the work, not for its result.
  } finally {
    clearTimeout(timer);
  }
}
