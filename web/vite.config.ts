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
      input: ["index.html", "studio.html", "cards.html", "live.html"], // all but the first need a server
    },
  },
  worker: { format: "es" },
});
