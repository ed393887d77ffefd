// Comunica's server binds to all addresses and has no option for another: whatever listens listens on loopback.
const { Server } = require('node:net');

const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  // The primary process of a cluster passes an object, with a host or a handle of its own.
  return Number.isInteger(Number(port)) ? listen.call(this, Number(port), '127.0.0.1', ...rest) : listen.call(this, port, ...rest);
};
