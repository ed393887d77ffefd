import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// One file without outside requests: it is served by the gateway, and read as a resource by hosts of MCP Apps.
export default defineConfig({
  root: "src",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: {
    outDir: "../built",
    emptyOutDir: true,
    rollupOptions: { input: "src/explorer.html" },
    modulePreload: false,
    target: "es2022",
  },
  test: { root: ".", include: ["tests/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
