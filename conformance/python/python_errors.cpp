#include "conformance/python/python_errors.h"

#include <nanobind/nanobind.h>

namespace fp4proof::python {

namespace {

PyObject* exception_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::data:
    case ErrorKind::corrupt: return PyExc_ValueError;
    case ErrorKind::io: return PyExc_OSError;
    case ErrorKind::unsupported: return PyExc_NotImplementedError;
    case ErrorKind::backend:
    case ErrorKind::internal: break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void raise(const Error& error) {
  PyErr_SetString(exception_of(error.kind), error.message.c_str());
  throw nanobind::python_error();
}

}  // namespace fp4proof::python
