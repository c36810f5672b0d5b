// ffi_handlers.cc - handlers of custom calls as users write them, with the header that
// jaxlib ships: everything that a handler on a CPU may ask for.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// ---- attributes of all kinds, as text in the result

static std::string Shown(const ffi::Dictionary &attrs) {
  std::string text;
  char part[128];
  if (attrs.contains("i32"))
    snprintf(part, sizeof part, "i32=%d;", *attrs.get<int32_t>("i32")), text += part;
  if (attrs.contains("u64"))
    snprintf(part, sizeof part, "u64=%llu;",
             (unsigned long long)*attrs.get<uint64_t>("u64")), text += part;
  if (attrs.contains("f64"))
    snprintf(part, sizeof part, "f64=%g;", *attrs.get<double>("f64")), text += part;
  if (attrs.contains("flag"))
    text += *attrs.get<bool>("flag") ? "flag=yes;" : "flag=no;";
  if (attrs.contains("text")) {
    auto span = *attrs.get<std::string_view>("text");
    text += "text=" + std::to_string(span.size()) + ":";
    for (char c : span) text += c ? c : '0';
    text += ";";
  }
  if (attrs.contains("list")) {
    text += "list=";
    for (float f : *attrs.get<ffi::Span<const float>>("list"))
      snprintf(part, sizeof part, "%g,", (double)f), text += part;
    text += ";";
  }
  return text + std::to_string(attrs.size());
}

static ffi::Error Show(ffi::Result<ffi::BufferR1<ffi::U8>> out, ffi::Dictionary attrs) {
  std::string text = Shown(attrs);
  size_t room = out->element_count();
  memset(out->typed_data(), ' ', room);
  memcpy(out->typed_data(), text.data(), std::min(room, text.size()));
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    show, Show, ffi::Ffi::Bind().Ret<ffi::BufferR1<ffi::U8>>().Attrs());

// ---- arrays of any type: bytes as they come, and the elements reversed

static ffi::Error Bytes(ffi::AnyBuffer in, ffi::Result<ffi::BufferR1<ffi::U8>> out) {
  memset(out->typed_data(), 0, out->element_count());
  memcpy(out->typed_data(), in.untyped_data(),
         std::min(in.size_bytes(), out->element_count()));
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    bytes_of, Bytes,
    ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::BufferR1<ffi::U8>>());

static ffi::Error Same(ffi::RemainingArgs args, ffi::RemainingRets rets) {
  for (size_t i = 0; i < rets.size(); i++) {
    auto from = *args.get<ffi::AnyBuffer>(i);
    auto to = *rets.get<ffi::AnyBuffer>(i);
    if (to->size_bytes() != from.size_bytes() ||
        to->element_type() != from.element_type() ||
        to->dimensions().size() != from.dimensions().size())
      return ffi::Error::InvalidArgument("another type");
    if (from.untyped_data() != to->untyped_data())
      memcpy(to->untyped_data(), from.untyped_data(), from.size_bytes());
    if ((reinterpret_cast<uintptr_t>(from.untyped_data()) |
         reinterpret_cast<uintptr_t>(to->untyped_data())) % 16)
      return ffi::Error::Internal("lies anywhere");
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(same, Same,
                              ffi::Ffi::Bind().RemainingArgs().RemainingRets());

// The first element of the result is added to what lies there.
static ffi::Error AddInPlace(ffi::BufferR1<ffi::F32> in,
                             ffi::Result<ffi::BufferR1<ffi::F32>> out) {
  if (in.untyped_data() != out->untyped_data())
    return ffi::Error::Internal("not in one place");
  out->typed_data()[0] += 10;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(add_in_place, AddInPlace,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::BufferR1<ffi::F32>>()
                                  .Ret<ffi::BufferR1<ffi::F32>>());

// ---- states

struct Counter {
  static ffi::TypeId id;
  static ffi::TypeInfo info;
  int64_t start;
  std::atomic<int64_t> calls{0};
  explicit Counter(int64_t start) : start(start) { alive++; }
  ~Counter() { alive--; }
  static std::atomic<int> alive;
};
ffi::TypeId Counter::id = {};
ffi::TypeInfo Counter::info = ffi::MakeTypeInfo<Counter>();
std::atomic<int> Counter::alive{0};

extern "C" void *counter_id() { return &Counter::id; }
extern "C" void *counter_info() { return &Counter::info; }
extern "C" int counters_alive() { return Counter::alive; }

static ffi::ErrorOr<std::unique_ptr<Counter>> CountFrom(int64_t start) {
  if (start < 0) return ffi::Unexpected(ffi::Error::InvalidArgument("from below 0"));
  return std::make_unique<Counter>(start);
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(count_from, CountFrom,
                              ffi::Ffi::BindInstantiate().Attr<int64_t>("start"));

static ffi::Error Count(Counter *counter, ffi::Result<ffi::BufferR0<ffi::S32>> out,
                        int64_t) {
  *out->typed_data() = (int32_t)(counter->start + counter->calls++);
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(count, Count,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::State<Counter>>()
                                  .Ret<ffi::BufferR0<ffi::S32>>()
                                  .Attr<int64_t>("start"));

// ---- memory, threads, devices, futures

// XLA's CPU has none of this memory, so that nothing compares with it.
static ffi::Error Scratch(ffi::ScratchAllocator scratch, ffi::BufferR0<ffi::F32> in,
                          ffi::Result<ffi::BufferR0<ffi::F32>> out) {
  for (size_t align : {1, 64, 4096}) {
    auto memory = scratch.Allocate(100, align);
    if (!memory || reinterpret_cast<uintptr_t>(*memory) % align)
      return ffi::Error::Internal("no memory");
    memset(*memory, 1, 100);
  }
  if (scratch.Allocate(size_t{1} << 62, 64).has_value())
    return ffi::Error::Internal("too much memory");
  *out->typed_data() = *in.typed_data();
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(scratch, Scratch,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Arg<ffi::BufferR0<ffi::F32>>()
                                  .Ret<ffi::BufferR0<ffi::F32>>());

static ffi::Error Work(ffi::ThreadPool pool, int32_t device, ffi::RunId run,
                       ffi::BufferR0<ffi::F32> in,
                       ffi::Result<ffi::BufferR0<ffi::F32>> out) {
  std::atomic<int> done{0};
  for (int i = 0; i < 4; i++) pool.Schedule([&] { done++; });
  while (done < 4) std::this_thread::yield();
  if (pool.num_threads() < 1 || device != 0) return ffi::Error::Internal("no threads");
  (void)run;
  *out->typed_data() = *in.typed_data() + (float)done;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(work, Work,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Ctx<ffi::RunId>()
                                  .Arg<ffi::BufferR0<ffi::F32>>()
                                  .Ret<ffi::BufferR0<ffi::F32>>());

static ffi::Future Later(ffi::BufferR0<ffi::F32> in,
                         ffi::Result<ffi::BufferR0<ffi::F32>> out) {
  ffi::Promise promise;
  ffi::Future future(promise);
  float x = *in.typed_data(), *to = out->typed_data();
  std::thread([x, to, promise = std::move(promise)]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *to = x * 2;
    if (x < 0)
      promise.SetError(ffi::Error(ffi::ErrorCode::kOutOfRange, "it is below 0"));
    else
      promise.SetAvailable();
  }).detach();
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(later, Later,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::BufferR0<ffi::F32>>()
                                  .Ret<ffi::BufferR0<ffi::F32>>());

static ffi::Error Fail(ffi::BufferR0<ffi::F32> in,
                       ffi::Result<ffi::BufferR0<ffi::F32>> out) {
  *out->typed_data() = *in.typed_data();
  if (*in.typed_data() < 0)
    return ffi::Error(ffi::ErrorCode::kDataLoss, std::string(3000, 'x') + "end");
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(fail, Fail,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::BufferR0<ffi::F32>>()
                                  .Ret<ffi::BufferR0<ffi::F32>>());

static ffi::Error NeedsStream(ffi::Result<ffi::BufferR0<ffi::F32>>, void *) {
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(needs_stream, NeedsStream,
                              ffi::Ffi::Bind()
                                  .Ret<ffi::BufferR0<ffi::F32>>()
                                  .Ctx<ffi::PlatformStream<void *>>());

// ---- before the FFI: adds options' length to the operand

extern "C" void original(void *out, const void **in) {
  *(float *)out = *(const float *)in[0] + 1;
}
