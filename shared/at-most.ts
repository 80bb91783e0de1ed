/** Resolves when `work` has settled, well or not, or after `timeMs`; the work itself goes on. */
export async function atMost(work: Promise<unknown>, timeMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMs);
  });
  try {
    await Promise.race([work, late]);
  } catch {
    // Whoever waits for the end of the work does not ask how it went.
  } finally {
    clearTimeout(timer);
  }
}
