#include "tests/testing/oracle.h"

#include <roaring/roaring64.h>

#include <algorithm>

namespace dv::testing {

using roaring::api::roaring64_bitmap_contains;
using roaring::api::roaring64_bitmap_free;
using roaring::api::roaring64_bitmap_get_cardinality;
using roaring::api::roaring64_bitmap_internal_validate;
using roaring::api::roaring64_bitmap_is_empty;
using roaring::api::roaring64_bitmap_maximum;
using roaring::api::roaring64_bitmap_minimum;
using roaring::api::roaring64_bitmap_portable_deserialize_safe;
using roaring::api::roaring64_bitmap_portable_deserialize_size;
using roaring::api::roaring64_bitmap_range_closed_cardinality;
using roaring::api::roaring64_bitmap_t;
using roaring::api::roaring64_iterator_create;
using roaring::api::roaring64_iterator_free;
using roaring::api::roaring64_iterator_move_equalorlarger;
using roaring::api::roaring64_iterator_read;
using roaring::api::roaring64_iterator_t;

namespace {

struct FreeBitmap {
  void operator()(roaring64_bitmap_t* bitmap) const { roaring64_bitmap_free(bitmap); }
};

using BitmapPointer = std::unique_ptr<roaring64_bitmap_t, FreeBitmap>;

BitmapPointer Read(std::string_view bytes) {
  return BitmapPointer(roaring64_bitmap_portable_deserialize_safe(bytes.data(), bytes.size()));
}

}  // namespace

struct Oracle::State {
  BitmapPointer bitmap;
};

Oracle::Verdict Oracle::Judge(std::string_view bytes) {
  // A copy that ends with its allocation, so that a sanitizer sees what CRoaring reads past it.
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  const std::string_view input(copy.get(), bytes.size());
  const BitmapPointer bitmap = Read(input);
  if (bitmap == nullptr) return {false, "the safe reader refuses it"};
  const char* why = nullptr;
  if (!roaring64_bitmap_internal_validate(bitmap.get(), &why)) {
    return {false, why == nullptr ? "not valid" : why};
  }
  const size_t consumed = roaring64_bitmap_portable_deserialize_size(input.data(), input.size());
  if (consumed != input.size()) return {false, "it has trailing bytes"};
  return {true, ""};
}

Oracle::Oracle(std::string_view bytes) : state_(std::make_unique<State>()) {
  state_->bitmap = Read(bytes);
}

Oracle::~Oracle() = default;

uint64_t Oracle::Cardinality() const {
  return roaring64_bitmap_get_cardinality(state_->bitmap.get());
}

std::optional<uint64_t> Oracle::First() const {
  if (roaring64_bitmap_is_empty(state_->bitmap.get())) return std::nullopt;
  return roaring64_bitmap_minimum(state_->bitmap.get());
}

std::optional<uint64_t> Oracle::Last() const {
  if (roaring64_bitmap_is_empty(state_->bitmap.get())) return std::nullopt;
  return roaring64_bitmap_maximum(state_->bitmap.get());
}

bool Oracle::Contains(uint64_t position) const {
  return roaring64_bitmap_contains(state_->bitmap.get(), position);
}

uint64_t Oracle::Count(uint64_t first, uint64_t last) const {
  if (first > last) return 0;
  return roaring64_bitmap_range_closed_cardinality(state_->bitmap.get(), first, last);
}

std::vector<uint64_t> Oracle::Positions(uint64_t first, uint64_t last, uint64_t limit) const {
  std::vector<uint64_t> positions;
  roaring64_iterator_t* iterator = roaring64_iterator_create(state_->bitmap.get());
  if (first <= last && roaring64_iterator_move_equalorlarger(iterator, first)) {
    std::vector<uint64_t> buffer(4096);
    while (positions.size() < limit) {
      const uint64_t wanted = std::min<uint64_t>(buffer.size(), limit - positions.size());
      const uint64_t read = roaring64_iterator_read(iterator, buffer.data(), wanted);
      const auto end = std::upper_bound(buffer.begin(), buffer.begin() + read, last);
      positions.insert(positions.end(), buffer.begin(), end);
      if (read < wanted || end != buffer.begin() + read) break;
    }
  }
  roaring64_iterator_free(iterator);
  return positions;
}

}  // namespace dv::testing
