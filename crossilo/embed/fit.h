#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "crossilo/data/embedding.h"
#include "crossilo/embed/picture.h"

namespace crossilo {

// How each kind of embedding comes to be.  The result goes to
// MakePictureEmbedder or MakeWordEmbedder.  Fit on training samples only.

// "descriptor": gradients, colours and a thumbnail, no weights needed; PCA to
// `dims` (fewer where there are fewer pictures).  Features have mean square 1.
Embedding FitDescriptor(const std::vector<Picture>& pictures, int64_t dims = 256);

// "torchscript": a network from a TorchScript file that takes float NCHW RGB
// and gives one row a picture.  The embedding stores the file's name and
// checksum, not its weights.
struct TorchscriptOptions {
  int64_t width = 224, height = 224;
  std::array<double, 3> mean = {128, 128, 128};   // red, green, blue; 0 .. 255
  std::array<double, 3> scale = {128, 128, 128};  // the network sees (pixel - mean) / scale
};
Embedding DescribeTorchscript(const std::filesystem::path& file,
                              const TorchscriptOptions& options = {});

// "tfidf": words and character n-grams of any language, weighted by
// (1 + ln tf) (1 + ln((1 + texts) / (1 + df))), rows of length 1.
struct TfidfOptions {
  int64_t max_words = 3000;              // the most frequent are kept
  int64_t max_ngrams = 3000;             // likewise; 0 for words only
  int64_t min_df = 2;                    // texts a term must stand in
  int64_t ngram_min = 3, ngram_max = 4;  // letters, a mark at a word's ends included
  double ngram_weight = 0.5;             // an n-gram's weight against a word's
  int64_t dims = 0;                      // > 0: projected to so many, mean square 1
};
Embedding FitTfidf(const std::vector<std::string>& texts, const TfidfOptions& options = {});

// Teaches a tfidf embedding the words of other languages: texts[i] says in the
// embedding's own language what translations.at(language)[i] says in another,
// or "" where it does not.  A foreign word, or pair of Chinese or Japanese
// characters, gets the few own words that it foretells: the strongest positive
// coefficients of a ridge regression from the foreign tf-idf rows to the own
// ones, in which a word that stands everywhere, such as "qui", foretells
// nothing.  Such words only embed texts that the own language knows less of
// than another (dictionary.h); all others become what they became before.
// Fit on training samples only, which is why a word that only held-out samples
// have stays unknown.  Throws Error for another kind, for names of languages
// that are not made of letters, digits and -, and for sizes that do not match.
struct DictionaryOptions {
  int64_t meanings = 12;  // own words that a foreign one stands for, at most
  double least = 0.05;    // the weakest of them against the strongest
  double ridge = 0.3;     // added to the diagonal; rows have length 1
};
using Translations = std::map<std::string, std::vector<std::string>>;
void AddDictionary(const std::vector<std::string>& texts, const Translations& translations,
                   Embedding& tfidf, const DictionaryOptions& options = {});

// "wordvec": the mean of the words' vectors, rows of length 1, from an .npz
// file with the arrays `words` and `vectors` or a text file with lines
// "word v1 v2 ...", most frequent word first.  With `smooth` > 0 the word of
// rank r has the weight s / (s + 1 / r), s = `smooth`, so that rare words
// count more (Arora et al., ICLR 2017, with Zipf's law for the frequency).
// The embedding stores the file's name and checksum.
struct WordvecOptions {
  double smooth = 0.01;
};
Embedding DescribeWordvec(const std::filesystem::path& file, const WordvecOptions& options = {});

}  // namespace crossilo
