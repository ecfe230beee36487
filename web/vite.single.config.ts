// SPDX-License-Identifier: MIT
// The views as one script and one style, for pages that are one file (web/build.py).
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    target: "es2022",
    lib: { entry: "src/single/main.ts", name: "views", formats: ["iife"], fileName: "views" },
  },
});
