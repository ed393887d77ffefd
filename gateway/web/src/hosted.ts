/** Whether this page stands inside another: only a host of MCP Apps may hold it. */
export const isHosted = (): boolean => window.parent !== window;
