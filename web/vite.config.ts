// SPDX-License-Identifier: MIT
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./", // the page works from any folder
  plugins: [svelte()],
  build: {
    outDir: "dist",
    target: "es2022",
    assetsInlineLimit: 0,
    rollupOptions: {
      // All but the first need a server.
      input: ["index.html", "studio.html", "cards.html", "live.html", "display.html"],
    },
  },
  worker: { format: "es" },
});
