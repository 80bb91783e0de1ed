import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The page lies at `/console/`; its files have a hash in their names, so browsers keep them for ever. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2024',
    assetsInlineLimit: 0,
    // The policy of the page lets no inline script run, which the polyfill would be.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_500,
  },
});
