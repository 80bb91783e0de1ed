/** A colour as `getComputedStyle` has it, `rgb(...)`, with a share of its strength: canvases take no `color-mix`. */
export const fadeColour = (rgb: string, share: number): string =>
  rgb.replace(/^rgb\((.*)\)$/, (_, parts: string) => `rgba(${parts}, ${share})`);
